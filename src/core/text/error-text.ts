import { types } from "node:util"
import { valueText } from "./value-text.ts"

/** The name and the whole message of something that was thrown, which may be any value. Never throws: a getter, a
 *  `toString` or a Proxy of the value that does is not called or is ignored. */
export function errorParts(error: unknown): { name: string; message: string } {
  if (typeof error === "string") return { name: "Error", message: error }
  if (typeof error !== "object" || error === null) {
    return { name: "Error", message: `${describeThrown(error)} was thrown in place of an error` }
  }
  const message = readText(error, "message")
  if (message !== undefined) return { name: (readText(error, "name") || "Error").slice(0, maxNameChars), message }
  return { name: "Error", message: describeThrown(error) }
}

/** A text for events and logs, which are kept for long: at most `most` characters, with a note of what is left out. */
export function boundedText(text: string, most = maxMessageChars): string {
  if (text.length <= most) return text
  const tail = Math.floor(most / 4)
  const left = text.length - most
  const [head, end] = [text.slice(0, most - tail), text.slice(-tail)]
  return `${head.toWellFormed()}\n… ${left} of ${text.length} characters left out …\n${end.toWellFormed()}`
}

const maxMessageChars = 10_000
const maxNameChars = 200

function readText(value: object, key: string): string | undefined {
  try {
    const text: unknown = Reflect.get(value, key)
    return typeof text === "string" ? text : undefined
  } catch {
    return undefined
  }
}

function describeThrown(value: unknown): string {
  if (types.isNativeError(value)) return "an error without a message"
  return valueText(value, { maxChars: 2000, depth: 4, members: 50 })
}
