// Extracts status, codes and messages from the errors that model providers throw.
import { attempt } from "../core/attempt.ts"

/** Facts about an error that a provider threw or streamed. */
export interface FailureFacts {
  name: string
  status: number | undefined
  /** Codes and types that the service sent, in lower case. */
  codes: string
  message: string
  /** The beginning of the message and of the body, to search for phrases. */
  text: string
  body: string
  headers: Record<string, unknown>
}

/** Collects the facts. Providers put the service's error at different places: in the error itself, in its `data`, in
 *  the body's `error`, or in a plain object or text. */
export function gatherFacts(error: unknown): FailureFacts {
  if (typeof error === "string") return { ...gatherFacts({}), message: error, text: error.slice(0, maxPhraseChars) }
  const top = asRecord(error)
  const body = typeof top.responseBody === "string" ? top.responseBody : ""
  const levels = [top, asRecord(top.data), parseBody(body)].flatMap((level) => [level, asRecord(level.error)])
  const codes = levels.flatMap(({ code, type, status }) => [code, type, status])
  const message = serviceMessage(top, parseBody(body), body)
  return {
    name: typeof top.name === "string" ? top.name : "",
    status: levels
      .flatMap((level) => [level.statusCode, level.status, level.code])
      .map(httpStatus)
      .find(Boolean),
    codes: codes
      .filter((each) => typeof each === "string")
      .join(" ")
      .toLowerCase(),
    message: message.replace(/\s+/g, " ").trim(),
    text: `${message.slice(0, maxPhraseChars)} ${body.slice(0, maxPhraseChars)}`,
    body,
    headers: asRecord(top.responseHeaders),
  }
}

// Phrases that identify a failure are within this many characters.
const maxPhraseChars = 2000

// The service's message, if the provider did not extract it. For a lost connection: the message of the innermost cause.
function serviceMessage(top: Record<string, unknown>, body: Record<string, unknown>, text: string): string {
  const own = firstText([top.message, asRecord(top.error).message, top.error]) ?? ""
  const inner = firstText([asRecord(body.error).message, body.message, body.error, body.detail])
  if (text && top.data === undefined) return inner ?? `${own} ${text.slice(0, 300)}`
  if (typeof top.statusCode === "number" && top.statusCode >= 400) return own
  let reason = own
  for (let cause = asRecord(top.cause), depth = 0; depth < 8; cause = asRecord(cause.cause), depth++) {
    reason = firstText([cause.message]) ?? reason
  }
  return reason
}

function httpStatus(value: unknown): number | undefined {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === "number" && status >= 400 && status <= 599 ? status : undefined
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
}

function parseBody(body: string): Record<string, unknown> {
  if (!/^\s*[{[]/.test(body)) return {}
  const value: unknown = attempt(() => JSON.parse(body))
  return asRecord(Array.isArray(value) ? value[0] : value)
}

function firstText(values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === "string" && value !== "")
}

/** How long the service asked to wait. */
export function retryAfterMs({ headers, body }: FailureFacts, now: () => number): number | undefined {
  const ms = Number.parseFloat(String(headers["retry-after-ms"]))
  if (Number.isFinite(ms)) return Math.max(0, ms)
  const value = headers["retry-after"]
  if (typeof value === "string" && value.trim() !== "") {
    const seconds = Number(value)
    const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now()
    if (Number.isFinite(wait)) return Math.max(0, wait)
  }
  // Gemini puts the delay into the body.
  const delay = /"retryDelay":\s*"([\d.]+)s"/.exec(body)?.[1]
  return delay === undefined ? undefined : Number(delay) * 1000
}
