// The error classes of Karst, and errors as plain data.
import { inspect } from "node:util"
import { attempt } from "./attempt.ts"
import type { Json } from "./json.ts"
import { boundedText, errorParts } from "./text/error-text.ts"

export interface AgentErrorOptions {
  code?: string | undefined
  retryable?: boolean | undefined
  cause?: unknown
  details?: { [key: string]: Json } | undefined
}

/** An error that only the host can fix. Its message names the problem, the cause and the fix. Errors that the model
 *  can fix are never thrown as `AgentError`; they are data, `{ ok: false, error }`. */
export class AgentError extends Error {
  override name = "AgentError"
  /** A stable word for programs, such as `rate-limited`; docs/errors.md lists them. */
  readonly code: string
  /** True if the same operation may succeed later, unchanged. */
  readonly retryable: boolean
  readonly details: { [key: string]: Json } | undefined

  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = options.code ?? "error"
    this.retryable = options.retryable ?? false
    this.details = options.details
  }
}

/** An option, name or combination of them is invalid. */
export class ConfigError extends AgentError {
  override name = "ConfigError"
  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, { code: "config", ...options })
  }
}

/** An optional package is needed and not installed. */
export class MissingPackageError extends AgentError {
  override name = "MissingPackageError"
  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, { code: "missing-package", ...options })
  }
}

/** The part, driver or provider does not have the feature. */
export class UnsupportedError extends AgentError {
  override name = "UnsupportedError"
  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, { code: "unsupported", ...options })
  }
}

/** Someone else changed the data first. */
export class ConflictError extends AgentError {
  override name = "ConflictError"
  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, { code: "conflict", retryable: true, ...options })
  }
}

export type ModelErrorCode =
  | "rate-limited"
  | "overloaded"
  | "server-error"
  | "connection"
  | "timeout"
  | "stalled"
  | "authentication"
  | "billing"
  | "not-found"
  | "context-overflow"
  | "content-filter"
  | "truncated"
  | "invalid-request"
  | "invalid-response"

export interface ModelErrorOptions extends AgentErrorOptions {
  code: ModelErrorCode
  status?: number | undefined
  retryAfterMs?: number | undefined
}

/** The model or the service behind it failed. */
export class ModelError extends AgentError {
  override name = "ModelError"
  declare readonly code: ModelErrorCode
  /** The HTTP status, if there was one. */
  readonly status: number | undefined
  /** How long the service asked to wait. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, options: ModelErrorOptions) {
    super(message, options)
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
  }
}

export type ProviderErrorCode =
  | "not-installed"
  | "authentication"
  | "billing"
  | "rate-limited"
  | "overloaded"
  | "server-error"
  | "connection"
  | "timeout"
  | "stalled"
  | "invalid-request"
  | "session-not-found"
  | "protocol"
  | "exit"
  | "provider"

export interface ProviderErrorOptions extends AgentErrorOptions {
  code?: ProviderErrorCode | undefined
  provider?: string | undefined
  retryAt?: number | undefined
  stderr?: string | undefined
}

/** A coding CLI failed, or the service behind it. */
export class ProviderError extends AgentError {
  override name = "ProviderError"
  declare readonly code: ProviderErrorCode
  /** The name of the CLI. */
  readonly provider: string | undefined
  /** When the account's limit ends, in milliseconds since the epoch, if the CLI reported it. */
  readonly retryAt: number | undefined
  /** The end of the CLI's standard error output. */
  readonly stderr: string | undefined

  constructor(message: string, options: ProviderErrorOptions = {}) {
    super(message, { code: "provider", ...options })
    this.provider = options.provider
    this.retryAt = options.retryAt
    this.stderr = options.stderr
  }
}

const defaultAbortMessage = "The run was aborted."

/** The operation was aborted. The name is the platform's, so `error.name === "AbortError"` holds for both. */
export class AbortError extends AgentError {
  override name = "AbortError"
  constructor(message = defaultAbortMessage, options: AgentErrorOptions = {}) {
    super(message, { code: "aborted", ...options })
  }
}

/** Converts an abort reason to an `AbortError`. A reason that is one is returned as it is; otherwise its text
 *  becomes the message, and the reason the cause. */
export function toAbortError(reason: unknown): AbortError {
  if (reason instanceof AbortError) return reason
  const { name, message } = errorParts(reason)
  // `abort()` without a reason makes the platform create a DOMException.
  const isGiven = reason !== undefined && !(reason instanceof DOMException && name === "AbortError") && message !== ""
  return new AbortError(isGiven ? boundedText(message) : undefined, { cause: reason })
}

/** The text of an abort reason; undefined if none was given. */
export function abortReasonText(reason: unknown): string | undefined {
  const { message } = toAbortError(reason)
  return message === defaultAbortMessage ? undefined : message
}

/** The reason as the member of a result or a `run-end` event. */
export function abortDetail(reason: unknown): { detail?: string } {
  const detail = abortReasonText(reason)
  return detail === undefined ? {} : { detail }
}

/** An error as plain JSON, for events and stores. */
export interface ErrorData {
  name: string
  message: string
  code?: string
  retryable?: boolean
  /** When the account's limit of a coding CLI ends, in milliseconds since the epoch. */
  retryAt?: number
}

/** Converts anything thrown to plain data. Very long messages are shortened. Never throws. */
export function errorData(error: unknown): ErrorData {
  const { name, message: whole } = errorParts(error)
  const message = boundedText(whole)
  if (!(error instanceof AgentError)) return { name, message }
  const { code, retryable } = error
  const retryAt = error instanceof ProviderError ? error.retryAt : undefined
  return { name, message, code, retryable, ...(retryAt !== undefined && { retryAt }) }
}

/** The text of a thrown value that is not an Error. */
export function thrownText(thrown: unknown): string {
  return attempt(() => String(thrown)) ?? inspect(thrown, { depth: 0 })
}

export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError"
}
