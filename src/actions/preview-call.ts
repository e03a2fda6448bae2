// Calls as text: their name, a one-line preview for events, and the whole call for a person who approves it.
import type { CallPreview } from "../core/event.ts"
import { escapeInvisible, valueText } from "../core/text/value-text.ts"
import type { RuntimeCall } from "../runtime/runtime.ts"

/** The name of a call in messages and limits. */
export function callName({ binding, method }: Pick<RuntimeCall, "binding" | "method">): string {
  return method ? `${binding}.${method}` : binding
}

/** The key under which `always` decisions about a call are stored. */
export function callSubject(call: Pick<RuntimeCall, "binding" | "method" | "subject">): string {
  return call.subject ?? callName(call)
}

export function previewCall(call: RuntimeCall): CallPreview {
  const args = call.args.map(previewArgument).join(", ")
  const short = args.length > 200 ? `${args.slice(0, 199)}…` : args
  return call.method
    ? { binding: call.binding, method: call.method, args: short }
    : { binding: call.binding, args: short }
}

function previewArgument(value: unknown): string {
  // The common types skip the general inspection, because this runs at every call.
  if (typeof value === "string")
    return escapeInvisible(JSON.stringify(value.length > 100 ? `${value.slice(0, 99)}…` : value))
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return valueText(value, { depth: 2, members: 5, textLength: 80, maxChars: 300 })
}

/** The longest call text that is shown for approval. */
const maxCallTextChars = 256 * 1024

/** Returns the whole call as text, on several lines if it is long, cut at `maxCallTextChars`. */
export function fullCallText(call: RuntimeCall): string {
  const { args, nameOf } = call
  const most = Math.floor(maxCallTextChars / Math.max(args.length, 1))
  const parts = args.map((value) => valueText(value, { nameOf, maxChars: most, width: 100 }))
  const name = escapeInvisible(callName(call))
  const line = `${name}(${parts.join(", ")})`
  const isLong = line.length > 100 || line.includes("\n")
  const text = isLong ? `${name}(\n${parts.map((part) => `${indented(part)},\n`).join("")})` : line
  if (text.length <= maxCallTextChars) return text
  return `${text.slice(0, maxCallTextChars)}\n… ${text.length - maxCallTextChars} more characters are not shown`
}

function indented(text: string): string {
  return text.replace(/^/gm, "  ")
}
