// The text of thrown values, and shortened texts for events and logs.
import { types } from "node:util"
import { attempt } from "../attempt.ts"
import { valueText } from "./value-text.ts"

/** Returns the name and message of anything that was thrown. Never throws: failing getters, `toString` methods and
 *  proxies of the value are ignored. */
export function errorParts(error: unknown): { name: string; message: string } {
  if (typeof error === "string") return { name: "Error", message: error }
  if (typeof error !== "object" || error === null) {
    return { name: "Error", message: `${describeThrown(error)} was thrown in place of an error` }
  }
  const message = readText(error, "message")
  if (message !== undefined) return { name: (readText(error, "name") || "Error").slice(0, maxNameChars), message }
  return { name: "Error", message: describeThrown(error) }
}

/** Shortens a text to about `maxChars` characters by leaving out its middle, with a note of how much. */
export function boundedText(text: string, maxChars = maxMessageChars): string {
  if (text.length <= maxChars) return text
  const tail = Math.floor(maxChars / 4)
  const left = text.length - maxChars
  const [head, end] = [text.slice(0, maxChars - tail), text.slice(-tail)]
  return `${head.toWellFormed()}\n… ${left} of ${text.length} characters left out …\n${end.toWellFormed()}`
}

const maxMessageChars = 10_000
const maxNameChars = 200

function readText(value: object, key: string): string | undefined {
  const text: unknown = attempt(() => Reflect.get(value, key))
  return typeof text === "string" ? text : undefined
}

function describeThrown(value: unknown): string {
  if (types.isNativeError(value)) return "an error without a message"
  return valueText(value, { maxChars: 2000, depth: 4, members: 50 })
}
