import { ConfigError } from "../errors.ts"
import { describeValue } from "./check-options.ts"

/** Refuses a text that cannot be part of a key in a store, or of a path: empty, too long, with control characters or with
 *  `..`. `what` says what it names. With `segment` it may have no `/` either. */
export function checkName(what: string, name: unknown, { segment = false }: { segment?: boolean } = {}): string {
  const problem = nameProblem(name, segment)
  if (problem === undefined && typeof name === "string") return name
  throw new ConfigError(
    `${what} ${describeValue(name)} cannot be used: ${problem}. Use a short text such as "order-17".`,
  )
}

function nameProblem(name: unknown, segment: boolean): string | undefined {
  if (typeof name !== "string") return "it is not a text"
  if (name.trim() === "") return "it is empty"
  if (!name.isWellFormed()) return "it has half a surrogate pair"
  if (Buffer.byteLength(name) > maxBytes) return `it is longer than ${maxBytes} bytes`
  if (/[\u0000-\u001f\u007f]/.test(name)) return "it has control characters"
  if (name.split(/[/\\]/).some((part) => part === "." || part === "..")) return 'it has a part "." or ".."'
  return segment && /[/\\]/.test(name) ? "it has a slash" : undefined
}

const maxBytes = 500
