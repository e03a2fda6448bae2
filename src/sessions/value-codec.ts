// Encodes values for stores: the results of calls in journals and recordings, the outputs of runs, the options of
// `submit`.
import { types } from "node:util"
import { deserialize, serialize } from "node:v8"
import type { Json } from "../core/json.ts"
import { isStackOverflow } from "../core/values/nesting-depth.ts"
import { isToolResult, type ToolResult, toolResult } from "../tools/tool.ts"

/** An encoded value: JSON, else the bytes of `v8.serialize` in base64; with neither, `undefined`. `tool` marks the
 *  result of a tool, which is more than its data. `nullPrototypes` numbers the objects without a prototype among all
 *  its objects, in the order in which `formOf` meets them. */
export type StoredValue = { json?: Json; bytes?: string; tool?: true; nullPrototypes?: number[] }

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
    const seen = new Set<object>()
    const form = formOf(value, seen)
    if (typeof form === "object") return form
    const nulls = [...seen].flatMap((each, index) => (Object.getPrototypeOf(each) === null ? [index] : []))
    // Values of this form are JSON, which people can read.
    const stored = form === "json" ? { json: value as Json } : { bytes: serialize(value).toString("base64") }
    return nulls.length > 0 ? { ...stored, nullPrototypes: nulls } : stored
  } catch (error) {
    // The call has been made, so its result must not become an error.
    return { opaque: isStackOverflow(error) ? "a value that is nested too deeply" : "a value that cannot be copied" }
  }
}

export function decodeValue({ json, bytes, tool, nullPrototypes }: StoredValue): unknown {
  const value: unknown = bytes === undefined ? json : deserialize(Buffer.from(bytes, "base64"))
  if (nullPrototypes) {
    const seen = new Set<object>()
    formOf(value, seen)
    const objects = [...seen]
    for (const index of nullPrototypes) if (objects[index]) Object.setPrototypeOf(objects[index], null)
  }
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
  const name = `a ${value.constructor?.name || "object"}`
  if (!isCloned(prototype)) return { opaque: name }
  if (types.isArrayBuffer(value) || ArrayBuffer.isView(value)) {
    const buffer = ArrayBuffer.isView(value) ? value.buffer : value
    if (types.isSharedArrayBuffer(buffer)) return { opaque: `${name} of shared memory` }
    return buffer.detached ? { opaque: `${name} whose memory is detached` } : "clone"
  }
  const isUsed = types.isRegExp(value) && value.lastIndex !== 0
  if (isUsed || Reflect.ownKeys(value).some((key) => key !== "lastIndex")) {
    return { opaque: `${name} with properties of its own` }
  }
  if (types.isMap(value)) return worstForm([...value].flat(), seen, "clone")
  if (types.isSet(value)) return worstForm([...value], seen, "clone")
  // An object that only has the prototype of a date, for example, is not one.
  return types.isDate(value) || types.isRegExp(value) ? "clone" : { opaque: name }
}

/** Returns true if a clone has this prototype too. An instance of a subclass would come back without its methods. */
function isCloned(prototype: unknown): boolean {
  return clonedPrototypes.has(prototype) || Object.getPrototypeOf(prototype) === typedArrayPrototype
}

const clonedPrototypes = new Set<unknown>(
  [Map, Set, Date, RegExp, ArrayBuffer, DataView, Buffer].map(({ prototype }) => prototype),
)
const typedArrayPrototype: unknown = Object.getPrototypeOf(Int8Array.prototype)

function formOfMembers(value: object, seen: Set<object>): Form {
  const members: unknown[] = []
  const isList = Array.isArray(value)
  if (isList !== (Object.getPrototypeOf(value) === Array.prototype)) return { opaque: "an object of another prototype" }
  const keys = Reflect.ownKeys(value)
  // Indexes come first, then the length.
  if (isList && keys.at(-1) !== "length") return { opaque: "an array with properties of its own" }
  for (const key of isList ? keys.slice(0, -1) : keys) {
    if (typeof key === "symbol") return { opaque: "an object with a symbol as a key" }
    const { get, set, enumerable, value: member } = Object.getOwnPropertyDescriptor(value, key) ?? {}
    if (get || set) return { opaque: "an object with a getter or setter" }
    if (!enumerable) return { opaque: "an object with a hidden property" }
    members.push(member)
  }
  return worstForm(isList ? value : members, seen, "json")
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
