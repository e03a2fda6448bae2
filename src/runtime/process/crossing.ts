import { types } from "node:util"
import { inspectShort } from "../preview.ts"
import { formOf } from "./forms.ts"

/** A value on its way between two processes. What cannot be copied is an empty object in `body`, the same one in `marks`,
 *  and at the same place of `stands` is what it stands for: no data, however it looks, can be taken for one. */
export interface Crossing {
  body: unknown
  marks?: object[]
  stands?: Stand[]
}

export type Stand =
  /** An object or function that lives on the host. */
  | { type: "handle"; id: number; shape?: Shape }
  /** A function binding, by its name. */
  | { type: "function"; name: string }
  | { type: "error"; name: string; message: string; stack?: string; fields: { [key: string]: unknown } }

/** What can be done with a handle. */
export interface Shape {
  kind: "object" | "function" | "class"
  /** Of its class, or its own. */
  name: string
  methods: readonly string[]
  /** Fields and accessors. */
  values: readonly string[]
  iterable: boolean
  disposable: boolean
}

/** A value that must stay where it is. */
export class CannotCross extends TypeError {
  override name = "CannotCross"
}

/** Says what crosses in the place of an object or function that is no data; throws `CannotCross` when nothing can. */
export type StandFor = (value: object, where: string) => Stand

/** Prepares a value for the other side. Data is copied; what a copy would change without a word (an instance, an accessor,
 *  a method, a proxy) goes by `standFor`. Nothing of the value is run. `stacks`: errors say where they were made. */
export function pack(value: unknown, standFor: StandFor, name = "the value", stacks = false): Crossing {
  try {
    const seen = new Set<object>()
    if (isData(value, seen)) return { body: value }
    const packing: Packing = { standFor, stacks, copies: new Map(), marks: [], stands: [] }
    const body = copy(value, name, packing)
    return { body, marks: packing.marks, stands: packing.stands }
  } catch (error) {
    if (error instanceof RangeError) throw new CannotCross(`${name} is nested too deeply to cross.`)
    throw error
  }
}

/** The value on this side; `revive` gives what a stand stands for here. */
export function unpack({ body, marks = [], stands = [] }: Crossing, revive: (stand: Stand) => unknown): unknown {
  if (marks.length === 0) return body
  const revived = new Map<object, unknown>()
  const seen = new Set<object>()
  const filled = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (revived.has(value)) return revived.get(value)
    const index = places.get(value)
    const stand = index === undefined ? undefined : stands[index]
    if (stand) {
      if (stand.type === "error") fill(stand.fields, seen, filled)
      const made = revive(stand)
      revived.set(value, made)
      return made
    }
    fill(value, seen, filled)
    return value
  }
  const places = new Map(marks.map((mark, index) => [mark, index]))
  return filled(body)
}

/** Whether some object in it has a key that assigning would take for its prototype. */
export function hasPrototypeKey(value: unknown, seen = new Set<object>()): boolean {
  if (typeof value !== "object" || value === null || seen.has(value)) return false
  seen.add(value)
  if (types.isMap(value)) return [...value].flat().some((part) => hasPrototypeKey(part, seen))
  if (types.isSet(value)) return [...value].some((part) => hasPrototypeKey(part, seen))
  if (ArrayBuffer.isView(value)) return false
  return Object.hasOwn(value, "__proto__") || Object.values(value).some((part) => hasPrototypeKey(part, seen))
}

interface Packing {
  standFor: StandFor
  stacks: boolean
  copies: Map<object, unknown>
  marks: object[]
  stands: Stand[]
}

/** Whether a clone is the same in all that matters, all the way down. */
function isData(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function" && typeof value !== "symbol"
  if (seen.has(value)) return true
  const form = formOf(value)
  if (form === "leaf") return true
  if (form === "object") return isRecordOfData(value as Record<string, unknown>, seen)
  seen.add(value)
  switch (form) {
    case "array":
      for (const element of present(value as unknown[])) if (!isData(element, seen)) return false
      return true
    case "map":
      for (const [key, held] of value as Map<unknown, unknown>) {
        if (!isData(key, seen) || !isData(held, seen)) return false
      }
      return true
    case "set":
      for (const element of value as Set<unknown>) if (!isData(element, seen)) return false
      return true
    default:
      return false
  }
}

/** Most objects are rows, with nothing in them that could lead back: those need not be remembered. */
function isRecordOfData(value: Record<string, unknown>, seen: Set<object>): boolean {
  for (const key in value) {
    const member = value[key]
    if (typeof member === "object" && member !== null) seen.add(value)
    if (!isData(member, seen)) return false
  }
  return true
}

/** The elements of an array, without walking the holes of one that claims to be huge. */
function present(array: readonly unknown[]): readonly unknown[] {
  return array.length > mostWalked ? Object.values(array) : array
}

const mostWalked = 50_000

function copy(value: unknown, where: string, packing: Packing): unknown {
  if (typeof value === "symbol") throw new CannotCross(`${where} is ${String(value)}: a symbol cannot cross.`)
  if (typeof value === "function") return stand(value, () => packing.standFor(value, where), packing)
  if (typeof value !== "object" || value === null) return value
  const known = packing.copies.get(value)
  if (known !== undefined) return known
  const keep = <T extends object>(made: T): T => {
    packing.copies.set(value, made)
    return made
  }
  switch (formOf(value)) {
    case "array": {
      const list = keep(new Array<unknown>((value as unknown[]).length))
      for (const [key, element] of Object.entries(value)) {
        Reflect.set(list, key, copy(element, /^\d+$/.test(key) ? `${where}[${key}]` : pathTo(where, key), packing))
      }
      return list
    }
    case "object": {
      const made = keep({})
      for (const [key, member] of Object.entries(value)) put(made, key, copy(member, pathTo(where, key), packing))
      return made
    }
    case "map": {
      const map = keep(new Map())
      for (const [key, held] of value as Map<unknown, unknown>) {
        const place = `${where}.get(${inspectShort(key)})`
        map.set(copy(key, `a key of ${where}`, packing), copy(held, place, packing))
      }
      return map
    }
    case "set": {
      const set = keep(new Set())
      for (const element of value as Set<unknown>) set.add(copy(element, `an element of ${where}`, packing))
      return set
    }
    case "leaf":
      return value
    case "error":
      return stand(value, () => errorStand(value as Error, where, packing), packing)
    case "live":
      if (!types.isProxy(value) && Object.hasOwn(value, "__proto__")) {
        throw new CannotCross(`${where} has a key "__proto__", which cannot cross. Rename it.`)
      }
      return stand(value, () => packing.standFor(value, where), packing)
  }
}

function stand(value: object, make: () => Stand, { copies, marks, stands }: Packing): object {
  const known = copies.get(value)
  if (typeof known === "object" && known !== null) return known
  const mark = {}
  copies.set(value, mark)
  // The place is taken before the stand is made: an error may hold itself.
  const index = marks.push(mark) - 1
  stands[index] = make()
  return mark
}

function errorStand(error: Error, where: string, packing: Packing): Stand {
  const fields: { [key: string]: unknown } = {}
  for (const key of new Set([...Object.keys(error), "cause", "errors"])) {
    const property = Object.getOwnPropertyDescriptor(error, key)
    if (!property || !("value" in property) || ownOfErrors.has(key)) continue
    try {
      fields[key] = copy(property.value, pathTo(where, key), packing)
    } catch (problem) {
      // An error tells what went wrong with the cell, also without what it carries along.
      if (!(problem instanceof CannotCross)) throw problem
    }
  }
  const { name, message, stack } = error
  return {
    type: "error",
    name: asText(name),
    message: asText(message),
    fields,
    ...(packing.stacks && typeof stack === "string" && { stack }),
  }
}

// What is there instead of a text is shown and not asked.
function asText(value: unknown): string {
  return typeof value === "string" ? value : inspectShort(value)
}

/** An error of this side like one of the other: of the same class where it is one of the language. */
export function reviveError({ name, message, stack, fields }: Extract<Stand, { type: "error" }>): Error {
  const error = builtIns.get(name)?.(message) ?? new Error(message)
  if (error.name !== name) Object.defineProperty(error, "name", { value: name, writable: true, configurable: true })
  Object.defineProperty(error, "stack", { value: stack ?? `${name}: ${message}`, writable: true, configurable: true })
  for (const [key, value] of Object.entries(fields)) {
    // What the host calls on any error stays what it is.
    if (key in Error.prototype) continue
    const enumerable = key !== "cause" && key !== "errors"
    Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true })
  }
  return error
}

const ownOfErrors = new Set(["name", "message", "stack"])

const builtIns = new Map<string, (message: string) => Error>(
  [RangeError, TypeError, SyntaxError, ReferenceError, EvalError, URIError].map((type) => [
    type.name,
    (message) => new type(message),
  ]),
)
builtIns.set("AggregateError", (message) => new AggregateError([], message))

function fill(holder: unknown, seen: Set<object>, filled: (value: unknown) => unknown): void {
  if (typeof holder !== "object" || holder === null || seen.has(holder) || ArrayBuffer.isView(holder)) return
  seen.add(holder)
  if (types.isMap(holder)) {
    const entries = [...holder].map(([key, value]) => [filled(key), filled(value)] as const)
    holder.clear()
    for (const [key, value] of entries) holder.set(key, value)
    return
  }
  if (types.isSet(holder)) {
    const elements = [...holder].map(filled)
    holder.clear()
    for (const element of elements) holder.add(element)
    return
  }
  for (const [key, value] of Object.entries(holder)) {
    if (typeof value === "object" && value !== null) put(holder, key, filled(value))
  }
}

// Assigning to `__proto__` would do something else.
function put(holder: object, key: string, value: unknown): void {
  if (key !== "__proto__") Reflect.set(holder, key, value)
  else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
}

function pathTo(where: string, key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `${where}.${key}` : `${where}[${JSON.stringify(key)}]`
}
