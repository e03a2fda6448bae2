// Checks names that become part of store keys or paths, such as session names.
import { ConfigError } from "../errors.ts"
import { describeValue } from "./check-options.ts"

/** Returns the name if it can be part of a store key or a path. Throws a `ConfigError` if it is empty or too long,
 *  or has control characters or `..`. `what` says what the name is for. With `segment`, `/` is refused too. */
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
