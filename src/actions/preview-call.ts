import { inspect, types } from "node:util"
import type { CallPreview } from "../core/event.ts"
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
  if (typeof value === "string") return JSON.stringify(value.length > 100 ? `${value.slice(0, 99)}…` : value)
  if (typeof value === "function") return functionName(value)
  if (typeof value !== "object" || value === null) return String(value)
  return inspect(value, {
    depth: 1,
    maxArrayLength: 5,
    maxStringLength: 80,
    breakLength: Infinity,
    compact: true,
    // A getter or a proxy trap of the user's must not run because we look.
    getters: false,
    showProxy: false,
    customInspect: false,
  })
}

// Not its text, which is generated code, nor anything that would run code of its own.
function functionName(value: object): string {
  const name: unknown = types.isProxy(value) ? "" : Object.getOwnPropertyDescriptor(value, "name")?.value
  return typeof name === "string" && name !== "" ? `[function ${name}]` : "[function]"
}
