import { inspect } from "node:util"
import type { Json } from "./json.ts"
import { boundedText, errorParts } from "./text/error-text.ts"

export interface AgentErrorOptions {
  code?: string | undefined
  retryable?: boolean | undefined
  cause?: unknown
  details?: { [key: string]: Json } | undefined
}

/** What only the host can mend. The message names the thing, the cause and the cure. What the model can mend is never
 *  one of these: it is data, `{ ok: false, error }`. */
export class AgentError extends Error {
  override name = "AgentError"
  /** A stable word to branch on, such as `rate-limited`; docs/errors.md lists them. */
  readonly code: string
  /** Whether the same thing may work later, unchanged. */
  readonly retryable: boolean
  readonly details: { [key: string]: Json } | undefined

  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = options.code ?? "error"
    this.retryable = options.retryable ?? false
    this.details = options.details
  }
}

/** An option, a name or a combination that cannot work. */
export class ConfigError extends AgentError {
  override name = "ConfigError"
  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, { code: "config", ...options })
  }
}

/** An optional package is needed and not installed. */
export class MissingPeerError extends AgentError {
  override name = "MissingPeerError"
  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, { code: "missing-peer", ...options })
  }
}

/** This part, driver or provider has no such feature. */
export class UnsupportedError extends AgentError {
  override name = "UnsupportedError"
  constructor(message: string, options: AgentErrorOptions = {}) {
    super(message, { code: "unsupported", ...options })
  }
}

/** Somebody else changed it first. */
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
  /** The HTTP status, where there was one. */
  readonly status: number | undefined
  /** How long the service asked us to wait. */
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
  /** When a limit is over, in milliseconds since the epoch, where the CLI said so. */
  readonly retryAt: number | undefined
  /** The end of what the CLI wrote to its standard error. */
  readonly stderr: string | undefined

  constructor(message: string, options: ProviderErrorOptions = {}) {
    super(message, { code: "provider", ...options })
    this.provider = options.provider
    this.retryAt = options.retryAt
    this.stderr = options.stderr
  }
}

const defaultAbortMessage = "The run was aborted."

/** Somebody asked it to stop. Named as the platform names it, so `error.name === "AbortError"` holds for both. */
export class AbortError extends AgentError {
  override name = "AbortError"
  constructor(message = defaultAbortMessage, options: AgentErrorOptions = {}) {
    super(message, { code: "aborted", ...options })
  }
}

/** The error for an abort with this reason: the reason itself where it is one of ours. Its text is the message, and
 *  a reason of any other kind is kept as the cause. */
export function toAbortError(reason: unknown): AbortError {
  if (reason instanceof AbortError) return reason
  const { name, message } = errorParts(reason)
  // The reason of an `abort()` without one is an error that the platform makes.
  const isGiven = reason !== undefined && !(reason instanceof DOMException && name === "AbortError") && message !== ""
  return new AbortError(isGiven ? boundedText(message) : undefined, { cause: reason })
}

/** The text of the reason that an abort was given; undefined where it was given none. */
export function abortReasonText(reason: unknown): string | undefined {
  const { message } = toAbortError(reason)
  return message === defaultAbortMessage ? undefined : message
}

/** The same as the member of a result or a `run-end`. */
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
  /** When the limit that a coding CLI ran into is over, in milliseconds since the epoch. */
  retryAt?: number
}

/** Anything that was thrown, as data; a very long message is shortened. Never throws. */
export function errorData(error: unknown): ErrorData {
  const { name, message: whole } = errorParts(error)
  const message = boundedText(whole)
  if (!(error instanceof AgentError)) return { name, message }
  const { code, retryable } = error
  const retryAt = error instanceof ProviderError ? error.retryAt : undefined
  return { name, message, code, retryable, ...(retryAt !== undefined && { retryAt }) }
}

/** The text of something that was thrown and is no error. An object that cannot be converted to text is shown. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return inspect(thrown, { depth: 0 })
  }
}

export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError"
}
