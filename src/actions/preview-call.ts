import type { CallPreview } from "../core/event.ts"
import { valueText, visible } from "../core/value-text.ts"
import type { Call } from "../runtime/runtime.ts"

/** What a call is called in messages, limits and approvals. */
export function callName({ binding, method }: Pick<Call, "binding" | "method">): string {
  return method ? `${binding}.${method}` : binding
}

/** The key under which decisions about a call are remembered. */
export function callSubject(call: Pick<Call, "binding" | "method" | "subject">): string {
  return call.subject ?? callName(call)
}

/** A call as people see it: one line, cut short. */
export function previewCall(call: Call): CallPreview {
  const args = call.args.map(previewArgument).join(", ")
  const short = args.length > 200 ? `${args.slice(0, 199)}…` : args
  return call.method
    ? { binding: call.binding, method: call.method, args: short }
    : { binding: call.binding, args: short }
}

function previewArgument(value: unknown): string {
  // The common cases, without the price of a general inspection: this runs at every call.
  if (typeof value === "string") return visible(JSON.stringify(value.length > 100 ? `${value.slice(0, 99)}…` : value))
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return valueText(value, { depth: 2, members: 5, textLength: 80, most: 300 })
}

/** The most characters of a call that are shown to who decides about it. */
export const longestCallText = 256 * 1024

/** The whole call as text for a person who decides about it, over several lines where it is long; beyond 256 K
 *  characters it says what is left out. */
export function fullCallText(call: Call): string {
  const { args, nameOf } = call
  const most = Math.floor(longestCallText / Math.max(args.length, 1))
  const parts = args.map((value) => valueText(value, { nameOf, most, width: 100 }))
  const line = `${callName(call)}(${parts.join(", ")})`
  const isLong = line.length > 100 || line.includes("\n")
  const text = isLong ? `${callName(call)}(\n${parts.map((part) => `${indented(part)},\n`).join("")})` : line
  if (text.length <= longestCallText) return text
  return `${text.slice(0, longestCallText)}\n… ${text.length - longestCallText} more characters are not shown`
}

function indented(text: string): string {
  return text.replace(/^/gm, "  ")
}
