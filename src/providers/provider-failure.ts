// Turns failures reported by a coding CLI, and unexpected exits of its process, into `ProviderError`s.
import { ProviderError, type ProviderErrorCode } from "../core/errors.ts"
import type { CliProcessEnd } from "./turn/cli-process.ts"

/** What is known about a failure that a CLI reported. */
export interface CliFailureFacts {
  provider: string
  title: string
  /** The CLI's message. */
  message: string
  code?: ProviderErrorCode | undefined
  /** The HTTP status of the model service. */
  status?: number | undefined
  retryAt?: number | undefined
  stderr?: string | undefined
}

/** Creates the error for a failure that a CLI reported, with a code and, if known, a cure. */
export function providerFailure({
  provider,
  title,
  message,
  status,
  retryAt,
  stderr,
  ...facts
}: CliFailureFacts): ProviderError {
  const code = facts.code ?? errorCodeOfStatus(status)
  return new ProviderError(`${title}: ${withoutFinalPeriod(message)}.${cureOf(code, title)}`, {
    code,
    provider,
    retryable: retryableCodes.has(code),
    ...(retryAt !== undefined && { retryAt }),
    ...(stderr && { stderr }),
    ...(status !== undefined && { details: { status } }),
  })
}

/** Creates the error for a process that exited, or was stopped, before its turn was over. */
export function exitFailure(
  { provider, title }: { provider: string; title: string },
  end: CliProcessEnd,
  limits: { timeoutMs?: number | undefined; idleTimeoutMs?: number | undefined },
): ProviderError {
  const stderr = end.stderr.trim()
  const fail = (code: ProviderErrorCode, text: string) =>
    new ProviderError(`${title} ${text}`, {
      code,
      provider,
      retryable: retryableCodes.has(code),
      ...(stderr && { stderr }),
      ...(end.error && { cause: end.error }),
    })
  if (end.error) return fail("exit", `could not be started: ${describeStartError(end.error)}`)
  if (end.stopped === "timeout") {
    return fail("timeout", `was stopped: its turn took longer than ${limits.timeoutMs} ms. Raise timeoutMs.`)
  }
  if (end.stopped === "idle") {
    return fail(
      "stalled",
      `was stopped: nothing came for ${limits.idleTimeoutMs} ms. Raise idleTimeoutMs if it may think longer.`,
    )
  }
  if (end.stopped === "unreadable") return fail("protocol", "was stopped: it wrote a line that never ended.")
  const how = end.signal ? `was ended by ${end.signal}` : `ended with code ${end.exitCode}`
  const reason = lastLines(stderr)
  return fail(
    "exit",
    `${how} before its turn was over${reason ? `: ${withoutFinalPeriod(reason)}.` : ", and did not say why."}`,
  )
}

function errorCodeOfStatus(status: number | undefined): ProviderErrorCode {
  if (status === undefined) return "provider"
  if (status === 401 || status === 403) return "authentication"
  if (status === 402) return "billing"
  if (status === 429) return "rate-limited"
  if (status === 529 || status === 503) return "overloaded"
  if (status === 408) return "timeout"
  if (status >= 500) return "server-error"
  return status >= 400 ? "invalid-request" : "provider"
}

const retryableCodes = new Set<ProviderErrorCode>([
  "rate-limited",
  "overloaded",
  "server-error",
  "connection",
  "timeout",
  "stalled",
])

function describeStartError(error: Error): string {
  if (!("code" in error) || error.code !== "E2BIG") return `${error.message}. Check the program and its rights.`
  // Can happen with Codex, which takes its instructions as an argument.
  return "its arguments and variables are longer than the system allows. Shorten the instructions, or put them into a file that it reads."
}

function cureOf(code: ProviderErrorCode, title: string): string {
  if (code === "authentication") return ` Log in with ${title} itself, or set its key in the environment.`
  if (code === "session-not-found")
    return " A conversation can be resumed only by the user, and in the folder, it was made in."
  return ""
}

function withoutFinalPeriod(text: string): string {
  return text.trim().replace(/\.$/, "")
}

// The last lines of stderr usually name the cause.
function lastLines(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "")
  const last = lines.slice(-5).join("\n")
  return last.length > 1000 ? `…${last.slice(-1000)}` : last
}
