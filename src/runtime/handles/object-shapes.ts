// The shape of a host object, that is, the members a peer knows without asking, and the shapes already sent.
import { types } from "node:util"
import { isObject } from "../../core/object.ts"
import { isClass } from "../bindings.ts"
import { classOf, nameOfClass } from "../declare/inspect-class.ts"
import { isReserved, isSharedPrototype, prototypeChain } from "./operations/reachable-members.ts"
import type { WireObject } from "./wire.ts"

/** The fields are part of the wire format. */
export type ObjectShape = {
  is: "object" | "function" | "class"
  /** The name of the object's class, or the name of the function or class itself. */
  name: string
  methods: string[]
  /** Fields and accessors. */
  values: string[]
  iterable: boolean
  disposable: boolean
  /** The numbers of the classes that the object is an instance of. */
  classes: number[]
  /** If this is a class, its number. */
  number?: number
  /** The description of a function binding. */
  doc?: string
  /** True if tables are passed to this object as references. */
  whole?: boolean
  /** True if the object may have members that are not listed, as a Proxy may. */
  open?: boolean
}

/** The shapes that one connection has sent. Each shape is sent once, before its first use. */
export interface SentShapes {
  /** Returns the number of a shape. The next `takeNew` includes the shape if it is new. */
  numberOf(shape: ObjectShape): number
  takeNew(): WireObject[]
  /** Puts shapes back that were taken and could not be sent. */
  returnUnsent(shapes: readonly WireObject[]): void
}

export function createSentShapes(): SentShapes {
  const numbers = new Map<string, number>()
  let last = 0
  let added: WireObject[] = []
  return {
    numberOf(shape) {
      const key = JSON.stringify(shape)
      const known = numbers.get(key)
      if (known !== undefined) return known
      const number = ++last
      numbers.set(key, number)
      // A shape that was dropped here is sent again, under another number.
      if (numbers.size > maxShapes) numbers.delete(numbers.keys().next().value ?? "")
      added.push({ $: "sh", n: number, ...shape })
      return number
    },
    takeNew() {
      const taken = added
      if (taken.length > 0) added = []
      return taken
    },
    returnUnsent(shapes) {
      added = [...shapes, ...added]
    },
  }
}

export function objectShapeOf(value: object): ObjectShape {
  const is = typeof value === "function" ? (isClass(value) ? "class" : "function") : "object"
  const name = shapeName(value, is)
  if (types.isProxy(value)) {
    return { is, name, methods: [], values: [], iterable: true, disposable: true, classes: [], open: true }
  }
  const own = membersOf(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  const inherited = isObject(prototype) ? inheritedMembers(prototype) : noMembers
  return {
    is,
    name,
    methods: [...new Set([...own.methods, ...inherited.methods])],
    values: [...new Set([...own.values, ...inherited.values])],
    iterable: Symbol.asyncIterator in value || Symbol.iterator in value,
    disposable: Symbol.asyncDispose in value || Symbol.dispose in value,
    classes: inherited.classes,
    ...(is === "class" && { number: classNumber(value) }),
    ...((own.isCut || inherited.isCut) && { open: true }),
  }
}

interface Members {
  methods: readonly string[]
  values: readonly string[]
  /** True if the object has more members than are listed. */
  isCut: boolean
}

interface InheritedMembers extends Members {
  classes: number[]
}

const noMembers: InheritedMembers = { methods: [], values: [], isCut: false, classes: [] }
const inheritedByPrototype = new WeakMap<object, InheritedMembers>()

function inheritedMembers(prototype: object): InheritedMembers {
  const cached = inheritedByPrototype.get(prototype)
  if (cached) return cached
  const holders = [...prototypeChain(prototype)].filter((holder) => !types.isProxy(holder))
  const all = holders.map(membersOf)
  const members = {
    methods: all.flatMap(({ methods }) => methods),
    values: all.flatMap(({ values }) => values),
    isCut: all.some(({ isCut }) => isCut),
    classes: holders.flatMap(classNumbers),
  }
  inheritedByPrototype.set(prototype, members)
  return members
}

function classNumbers(holder: object): number[] {
  const type: unknown = Object.getOwnPropertyDescriptor(holder, "constructor")?.value
  return typeof type === "function" ? [classNumber(type)] : []
}

const classes = new WeakMap<object, number>()
let lastClass = 0

/** A class has the same number in every connection of this process. */
function classNumber(type: object): number {
  const number = classes.get(type) ?? ++lastClass
  classes.set(type, number)
  return number
}

function membersOf(holder: object): Members {
  const methods: string[] = []
  const values: string[] = []
  if (isSharedPrototype(holder)) return noMembers
  const isFunction = typeof holder === "function"
  const names = Object.getOwnPropertyNames(holder)
  for (const key of names.slice(0, maxListedMembers)) {
    if (isReserved(holder, key) || (isFunction && (key === "length" || key === "name"))) continue
    const property = Object.getOwnPropertyDescriptor(holder, key)
    const isFunctionValue = typeof property?.value === "function"
    if (key === "constructor" && isFunctionValue) continue
    const list = isFunctionValue && !isClass(property.value) ? methods : values
    list.push(key)
  }
  return { methods, values, isCut: names.length > maxListedMembers }
}

function shapeName(value: object, is: ObjectShape["is"]): string {
  if (is !== "object") return nameOfClass(value) ?? "function"
  const type = classOf(value)
  return (type && nameOfClass(type)) ?? "Object"
}

const maxShapes = 2_000
// Further members are reachable, but not listed.
const maxListedMembers = 500
