import { types } from "node:util"
import { isClass } from "../bindings.ts"
import { seenFromAfar } from "../cell-agent.ts"
import { classOf, nameOfClass } from "../declare/inspect-class.ts"
import { CannotCross, type Shape, type Stand } from "./crossing.ts"

/** What the host lets one child reach besides data: objects and functions of its own, by number. */
export interface HandleTable {
  /** What crosses for a value: always the same number for the same object. `binding` is the name it came in by. */
  expose(value: object, binding: string, where: string): Stand
  /** Undefined for a number that this child was never given, or gave back. */
  find(id: number): Exposed | undefined
  has(value: object): boolean
  release(id: number, count: number): void
}

export interface Exposed {
  readonly id: number
  readonly value: object
  readonly binding: string
  /** How often it was sent; the child gives back as many. */
  sent: number
}

export function createHandles(max: number): HandleTable {
  const byId = new Map<number, Exposed>()
  const byValue = new Map<object, Exposed>()
  let last = 0
  return {
    expose(value, binding, where) {
      if (types.isPromise(value)) throw new CannotCross(`${where} is a promise: await it first.`)
      if (!byValue.has(value) && byId.size >= max) {
        throw new CannotCross(`${where} cannot cross: there are ${max} live handles already. Let go of some first.`)
      }
      const exposed = byValue.get(value) ?? { id: ++last, value, binding, sent: 0 }
      exposed.sent++
      byId.set(exposed.id, exposed)
      byValue.set(value, exposed)
      return { type: "handle", id: exposed.id, shape: shapeOf(seenFromAfar(value)) }
    },
    find: (id) => byId.get(id),
    has: (value) => byValue.has(value),
    release(id, count) {
      const exposed = byId.get(id)
      if (!exposed) return
      exposed.sent -= count
      if (exposed.sent > 0) return
      byId.delete(id)
      byValue.delete(exposed.value)
    },
  }
}

/** Reads a member as the child may: what all objects and functions inherit leads out of the object, and is not there. */
export function readMember(target: unknown, key: string): unknown {
  if (typeof target === "string" && key === "length") return target.length
  if ((typeof target !== "object" && typeof target !== "function") || target === null) {
    throw new TypeError(`Cannot read "${key}" of ${target === null ? "null" : typeof target}`)
  }
  return isReachable(target, key) ? Reflect.get(target, key, target) : undefined
}

/** Writes a member as the child may: data into fields and setters, never in the place of a method. */
export function writeMember(target: unknown, key: string, value: unknown): void {
  if ((typeof target !== "object" && typeof target !== "function") || target === null) {
    throw new TypeError(`Cannot set "${key}" of ${target === null ? "null" : typeof target}`)
  }
  const found = types.isProxy(target) ? undefined : propertyOf(target, key)
  if (forbidden.has(key) || inherited(key) || typeof found?.value === "function") {
    throw new TypeError(`Cannot set "${key}": it is no field.`)
  }
  if (!Reflect.set(target, key, value, target)) throw new TypeError(`Cannot set "${key}": it is read-only.`)
}

function isReachable(target: object, key: string): boolean {
  if (forbidden.has(key)) return false
  // Looking a proxy's members up one by one would tell nothing: it answers as it likes.
  return types.isProxy(target) ? !inherited(key) : propertyOf(target, key) !== undefined
}

function propertyOf(target: object, key: string): PropertyDescriptor | undefined {
  for (const holder of holders(target)) {
    const property = Object.getOwnPropertyDescriptor(holder, key)
    if (property) return property
  }
  return undefined
}

/** The object and its prototypes, up to those that everything has. */
function* holders(target: object): Generator<object> {
  for (let holder: object | null = target; holder && !common.has(holder); holder = Object.getPrototypeOf(holder)) {
    yield holder
    if (types.isProxy(holder)) return
  }
}

const common = new Set<object>([
  Object.prototype,
  Function.prototype,
  ...[async () => {}, function* () {}, async function* () {}].map((value): object => Object.getPrototypeOf(value)),
])
const forbidden = new Set(["constructor", "__proto__", "prototype", "caller", "callee", "arguments"])

function inherited(key: string): boolean {
  return key in Object.prototype || key in Function.prototype
}

function shapeOf(value: object): Shape {
  const kind = typeof value === "function" ? (isClass(value) ? "class" : "function") : "object"
  const name = nameFor(value, kind)
  if (types.isProxy(value)) return { kind, name, methods: [], values: [], iterable: true, disposable: true }
  const own = membersOf(value)
  const methods = own.methods.slice()
  const values = own.values.slice()
  const prototype: unknown = Object.getPrototypeOf(value)
  const behind = isHolder(prototype) ? inheritedMembers(prototype) : undefined
  return {
    kind,
    name,
    // The same list for all instances of a class: a message names it once.
    methods: methods.length === 0 && behind ? behind.methods : [...methods, ...(behind?.methods ?? [])],
    values: values.length === 0 && behind ? behind.values : [...values, ...(behind?.values ?? [])],
    iterable: Symbol.asyncIterator in value || Symbol.iterator in value,
    disposable: Symbol.asyncDispose in value || Symbol.dispose in value,
  }
}

function nameFor(value: object, kind: Shape["kind"]): string {
  if (kind !== "object") return nameOfClass(value) ?? "function"
  const type = classOf(value)
  return (type && nameOfClass(type)) ?? "Object"
}

function isHolder(value: unknown): value is object {
  return ((typeof value === "object" && value !== null) || typeof value === "function") && !common.has(value)
}

interface Members {
  methods: readonly string[]
  values: readonly string[]
}

const known = new WeakMap<object, Members>()

function inheritedMembers(prototype: object): Members {
  const cached = known.get(prototype)
  if (cached) return cached
  const all = [...holders(prototype)].filter((holder) => !types.isProxy(holder)).map(membersOf)
  const members = {
    methods: [...new Set(all.flatMap(({ methods }) => methods))],
    values: [...new Set(all.flatMap(({ values }) => values))],
  }
  known.set(prototype, members)
  return members
}

function membersOf(holder: object): Members {
  const methods: string[] = []
  const values: string[] = []
  const isFunction = typeof holder === "function"
  for (const key of Object.getOwnPropertyNames(holder).slice(0, maxMembers)) {
    if (forbidden.has(key) || (isFunction && (key === "length" || key === "name"))) continue
    const property = Object.getOwnPropertyDescriptor(holder, key)
    const list = typeof property?.value === "function" && !isClass(property.value) ? methods : values
    list.push(key)
  }
  return { methods, values }
}

/** More members than these are there, but not listed. */
const maxMembers = 500
