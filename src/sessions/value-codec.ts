// Encodes values for stores: the results of calls in journals and recordings, the outputs of runs, the options of
// `submit`.
import { types } from "node:util"
import { deserialize, serialize } from "node:v8"
import type { Json } from "../core/json.ts"
import { isStackOverflow } from "../core/values/nesting-depth.ts"
import { isToolResult, type ToolResult, toolResult } from "../tools/tool.ts"

/** An encoded value: JSON, else the bytes of `v8.serialize` in base64; with neither, `undefined`. `tool` marks the
 *  result of a tool, which is more than its data. */
export type StoredValue = { json?: Json; bytes?: string; tool?: true }

/** A value that cannot be stored, because it has behaviour or an identity. */
export interface OpaqueValue {
  /** Its kind, such as "a function". */
  opaque: string
}

/** Encodes a value so that it comes back equal; undefined if it is opaque. */
export function encodeValue(value: unknown): StoredValue | undefined {
  const encoded = encodeOrDescribe(value)
  return "opaque" in encoded ? undefined : encoded
}

/** Like `encodeValue`, but says what an opaque value is. */
export function encodeOrDescribe(value: unknown): StoredValue | OpaqueValue {
  if (value === undefined) return {}
  if (isToolResult(value)) {
    const encoded = encodeOrDescribe(Object.fromEntries(Object.entries(value)))
    return "opaque" in encoded ? encoded : { ...encoded, tool: true }
  }
  try {
    const form = formOf(value, new Set())
    if (typeof form === "object") return form
    // Values of this form are JSON, which people can read.
    return form === "json" ? { json: value as Json } : { bytes: serialize(value).toString("base64") }
  } catch (error) {
    if (isStackOverflow(error)) return { opaque: "a value that is nested too deeply" }
    throw error
  }
}

export function decodeValue({ json, bytes, tool }: StoredValue): unknown {
  const value: unknown = bytes === undefined ? json : deserialize(Buffer.from(bytes, "base64"))
  // Only results of tools are marked so.
  return tool ? toolResult(value as ToolResult) : value
}

/** How a value can be stored: as JSON, as the bytes of a clone, or not at all. */
type Form = "json" | "clone" | OpaqueValue

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
      return { opaque: `a ${typeof value}` }
  }
}

function formOfObject(value: object, seen: Set<object>): Form {
  if (types.isProxy(value)) return { opaque: "a proxy" }
  // Only a clone preserves objects that are shared or circular.
  if (seen.has(value)) return "clone"
  seen.add(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Array.prototype || prototype === Object.prototype || prototype === null) {
    return formOfMembers(value, seen)
  }
  if (types.isMap(value) && prototype === Map.prototype) return worstForm([...value].flat(), seen, "clone")
  if (types.isSet(value) && prototype === Set.prototype) return worstForm([...value], seen, "clone")
  if (types.isDate(value) || types.isRegExp(value) || types.isArrayBuffer(value) || ArrayBuffer.isView(value)) {
    return "clone"
  }
  return { opaque: `a ${value.constructor?.name || "object"}` }
}

function formOfMembers(value: object, seen: Set<object>): Form {
  const members: unknown[] = []
  for (const key of Object.getOwnPropertyNames(value)) {
    const { get, set, value: member } = Object.getOwnPropertyDescriptor(value, key) ?? {}
    if (get || set) return { opaque: "an object with a getter or setter" }
    members.push(member)
  }
  return worstForm(Array.isArray(value) ? value : members, seen, "json")
}

function worstForm(members: readonly unknown[], seen: Set<object>, least: Form): Form {
  let worst = least
  for (const member of members) {
    const form = formOf(member, seen)
    if (typeof form === "object") return form
    if (form === "clone") worst = form
  }
  return worst
}
