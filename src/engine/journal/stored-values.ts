import { types } from "node:util"
import { deserialize, serialize } from "node:v8"
import type { Json } from "../../core/json.ts"
import { digest } from "../../core/values/digest.ts"
import { guardNestingDepth } from "../../core/values/nesting-depth.ts"
import type { RuntimeCall } from "../../runtime/runtime.ts"
import { isToolResult, type ToolResult, toolResult } from "../../tools/tool.ts"

/** A value in a store: as JSON where it is that, else as bytes in base64; without either it is `undefined`. `tool`: it is
 *  the result of a tool, which is more than its data. */
export type StoredValue = { json?: Json; bytes?: string; tool?: true }

/** How to store a value so that it comes back equal; undefined for what has behaviour or an identity of its own. */
export function encodeValue(value: unknown): StoredValue | undefined {
  if (value === undefined) return {}
  if (isToolResult(value)) {
    const stored = encodeValue(Object.fromEntries(Object.entries(value)))
    return stored && { ...stored, tool: true }
  }
  const form = guardNestingDepth("A value of a durable run", () => formOf(value, new Set()))
  if (form === "opaque") return undefined
  // What is of this form is JSON.
  if (form === "json") return { json: value as Json }
  return { bytes: guardNestingDepth("A value of a durable run", () => serialize(value)).toString("base64") }
}

export function decodeValue({ json, bytes, tool }: StoredValue): unknown {
  const value: unknown = bytes === undefined ? json : deserialize(Buffer.from(bytes, "base64"))
  // Only what was one is marked so.
  return tool ? toolResult(value as ToolResult) : value
}

/** The same for equal data. What is opaque in it counts by its kind alone. */
export function hashValue(value: unknown): string {
  return digest(value, () => undefined).text
}

/** The same for calls with equal arguments, also in another process: data counts by its contents, an opaque value by its
 *  name. `hasUnnamed`: one of them has none, so that the call cannot be told from one with another such value. */
export function hashArguments({ args, nameOf }: Pick<RuntimeCall, "args" | "nameOf">): {
  hash: string
  hasUnnamed: boolean
} {
  const identify = (value: object | symbol) => (typeof value === "symbol" ? undefined : nameOf?.(value))
  const { text, hasUnnamed } = digest(args, identify)
  return { hash: text, hasUnnamed }
}

type Form = "json" | "clone" | "opaque"

function formOf(value: unknown, seen: Set<object>): Form {
  switch (typeof value) {
    case "boolean":
    case "string":
      return "json"
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? "json" : "clone"
    case "undefined":
    case "bigint":
      return "clone"
    case "object":
      return value === null ? "json" : formOfObject(value, seen)
    default:
      return "opaque"
  }
}

function formOfObject(value: object, seen: Set<object>): Form {
  if (types.isProxy(value)) return "opaque"
  // Shared or circular: only a clone keeps that.
  if (seen.has(value)) return "clone"
  seen.add(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Array.prototype || prototype === Object.prototype || prototype === null)
    return formOfMembers(value, seen)
  if (types.isMap(value)) return worstForm([...value].flat(), seen, "clone")
  if (types.isSet(value)) return worstForm([...value], seen, "clone")
  if (types.isDate(value) || types.isRegExp(value) || types.isArrayBuffer(value) || ArrayBuffer.isView(value))
    return "clone"
  return "opaque"
}

function formOfMembers(value: object, seen: Set<object>): Form {
  const inside: unknown[] = []
  for (const key of Object.getOwnPropertyNames(value)) {
    const { get, set, value: member } = Object.getOwnPropertyDescriptor(value, key) ?? {}
    if (get || set) return "opaque"
    inside.push(member)
  }
  return worstForm(Array.isArray(value) ? value : inside, seen, "json")
}

function worstForm(inside: readonly unknown[], seen: Set<object>, least: Form): Form {
  let form = least
  for (const each of inside) {
    const own = formOf(each, seen)
    if (own === "opaque") return own
    if (own === "clone") form = own
  }
  return form
}
