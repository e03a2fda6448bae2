import { types } from "node:util"
import type { Bound, Namespace } from "../cells/namespace.ts"
import { createKinds, isObject, type Kinds, kindOf, singletons } from "../heap/kinds.ts"
import { elementsOf, entriesOf, isPlainArray, membersOf } from "../undo/contents.ts"
import { isOrdinary } from "../undo/properties.ts"
import type { Codecs } from "./codec.ts"

/** The plain data of a namespace at the time of a snapshot, to find out later which names have changed since. Only data
 *  without references to functions, instances or injected objects is in it: any other name counts as changed. */
export interface Image {
  names: Map<string, ImageName>
  /** For each object in the image, its group. */
  groupOf: Map<object, Group>
  groups: Group[]
}

/** Names that share objects, with these objects. */
export interface Group {
  names: string[]
  objects: ObjectImage[]
  isPlain: boolean
}

interface ImageName {
  value: unknown
  /** Whether it was written as a name of cells, as the contents of an injected value, or not at all. */
  written: Written
  isConstant: boolean
  /** Undefined for a primitive value. */
  group: Group | undefined
}

type Written = "name" | "contents" | undefined

/** An object with its contents at the time of the image. */
interface ObjectImage {
  object: object
  prototype: object | null
  /** Of a plain object, its keys. */
  keys: PropertyKey[] | undefined
  values: unknown[]
}

/** What has changed since an image. */
export interface Changes {
  /** The names to be written again. */
  names: Set<string>
  /** The names of the image that no longer hold. */
  dropped: string[]
  /** The groups of the image in which nothing has changed, by object. */
  unchanged(object: object): Group | undefined
  /** Whether a name is in the whole snapshot and still holds. */
  isKept(name: string): boolean
  /** Whether more of the image has changed than not. */
  mostly: boolean
}

export interface ImageOptions {
  codecs: Codecs
  /** Names that are not in the snapshot. */
  left: ReadonlyMap<string, string | undefined>
}

export function takeImage(namespace: Namespace, { codecs, left }: ImageOptions): Image {
  const { scope, constants } = namespace
  const bound = namespace.bound()
  const references = new Set([...bound.values()].map(({ value }) => value))
  const image: Image = { names: new Map(), groupOf: new Map(), groups: [] }
  const kinds = createKinds()
  const hasCodec = (value: object) =>
    Object.values(codecs).some((codec) => Object.prototype.isPrototypeOf.call(codec.class.prototype, value))

  for (const [name, value] of Object.entries(scope)) {
    if (left.has(name) || typeof value === "symbol" || isImport(namespace, name, value)) continue
    const written = writtenAs(bound.get(name), value)
    const entry: ImageName = { value, written, isConstant: constants.has(name), group: undefined }
    image.names.set(name, entry)
    if (!written || !isObject(value)) continue
    // An injected value is written as its contents under its own name only, and as a reference anywhere else.
    const isReference = written === "contents" ? hasCodec(value) : references.has(value)
    entry.group = isReference ? { names: [], objects: [], isPlain: false } : addGroup(image, value, references, kinds)
  }
  for (const [name, { group }] of image.names) group && currentGroup(group).names.push(name)
  for (const entry of image.names.values()) if (entry.group) entry.group = currentGroup(entry.group)
  for (const [object, group] of image.groupOf) image.groupOf.set(object, currentGroup(group))
  image.groups = image.groups.filter((group) => !merged.has(group))
  return image
}

/** Looks at each object of an image once. Runs none of its code. */
export function changesSince(image: Image, namespace: Namespace): Changes {
  const { scope, constants } = namespace
  const bound = namespace.bound()
  const same = new Set<Group>()
  let unchanged = 0
  for (const group of image.groups) {
    if (!group.isPlain || !group.objects.every(isSame)) continue
    same.add(group)
    unchanged += group.objects.length
  }
  const names = new Set<string>()
  const dropped: string[] = []
  let known = 0
  // Not `Object.entries`: of an object with many names it takes several times as long.
  for (const name of Object.keys(scope)) {
    const value = scope[name]
    const before = image.names.get(name)
    if (before) known++
    const isKept =
      before &&
      Object.is(before.value, value) &&
      before.isConstant === constants.has(name) &&
      before.written === writtenAs(bound.get(name), value) &&
      (before.group === undefined || same.has(before.group))
    if (isKept) continue
    names.add(name)
    if (before) dropped.push(name)
  }
  if (known < image.names.size) {
    for (const name of image.names.keys()) if (!Object.hasOwn(scope, name)) dropped.push(name)
  }
  return {
    names,
    dropped,
    unchanged(object) {
      const group = image.groupOf.get(object)
      return group && same.has(group) ? group : undefined
    },
    isKept: (name) => image.names.get(name)?.written !== undefined && !names.has(name) && Object.hasOwn(scope, name),
    mostly: image.groupOf.size > 100 && unchanged < image.groupOf.size / 2,
  }
}

/** Adds a value with everything it reaches. Where it reaches objects of another group, the two become one. */
function addGroup(image: Image, root: object, references: ReadonlySet<unknown>, kinds: Kinds): Group {
  let group: Group = { names: [], objects: [], isPlain: true }
  image.groups.push(group)
  const pending: object[] = [root]
  for (let object = pending.pop(); object; object = pending.pop()) {
    const known = image.groupOf.get(object)
    if (known) {
      group = join(group, currentGroup(known))
      continue
    }
    image.groupOf.set(object, group)
    const held = imageOf(object, kinds)
    if (held) group.objects.push(held)
    else group.isPlain = false
    for (const value of held?.values ?? []) {
      // Injected objects are written as references, also where the value holds itself.
      if (references.has(value) || typeof value === "symbol") group.isPlain = false
      else if (isObject(value)) pending.push(value)
    }
  }
  return group
}

// The groups that became part of another one.
const merged = new WeakMap<Group, Group>()

function currentGroup(group: Group): Group {
  let current = group
  for (let next = merged.get(current); next; next = merged.get(current)) current = next
  return current
}

function join(one: Group, other: Group): Group {
  if (one === other) return one
  const [large, small] = one.objects.length < other.objects.length ? [other, one] : [one, other]
  for (const object of small.objects) large.objects.push(object)
  large.isPlain &&= small.isPlain
  merged.set(small, large)
  return large
}

function imageOf(object: object, kinds: Kinds): ObjectImage | undefined {
  const prototype: object | null = Object.getPrototypeOf(object)
  if (!Object.isExtensible(object)) return undefined
  switch (kindOf(kinds, object)) {
    case "object": {
      if ((prototype !== null && prototype !== Object.prototype) || singletons.has(object)) return undefined
      if (types.isArgumentsObject(object)) return undefined
      return propertiesOf(object, prototype)
    }
    case "array": {
      const values = prototype === Array.prototype ? elementsOf(object as unknown[]) : undefined
      return values && { object, prototype, keys: undefined, values }
    }
    case "map":
    case "set":
    case "date": {
      if (!builtIn.includes(prototype) || Reflect.ownKeys(object).length > 0) return undefined
      return { object, prototype, keys: undefined, values: contentsOf(object) }
    }
    default:
      return undefined
  }
}

const builtIn: unknown[] = [Map.prototype, Set.prototype, Date.prototype]

function contentsOf(object: object): unknown[] {
  if (types.isMap(object)) return entriesOf(object)
  if (types.isSet(object)) return membersOf(object)
  return [Date.prototype.getTime.call(object)]
}

function propertiesOf(object: object, prototype: object | null): ObjectImage | undefined {
  const keys = Reflect.ownKeys(object)
  const values: unknown[] = []
  for (const key of keys) {
    const property = Object.getOwnPropertyDescriptor(object, key)
    if (typeof key === "symbol" || !isOrdinary(property)) return undefined
    values.push(property.value)
  }
  return { object, prototype, keys, values }
}

function isSame({ object, prototype, keys, values }: ObjectImage): boolean {
  if (Object.getPrototypeOf(object) !== prototype || !Object.isExtensible(object)) return false
  if (keys) return hasProperties(object, keys, values)
  if (Array.isArray(object)) return hasElements(object, values)
  if (Reflect.ownKeys(object).length > 0) return false
  const now = contentsOf(object)
  return now.length === values.length && now.every((value, at) => Object.is(value, values[at]))
}

function hasProperties(object: object, keys: readonly PropertyKey[], values: readonly unknown[]): boolean {
  const now = Reflect.ownKeys(object)
  if (now.length !== keys.length) return false
  for (let at = 0; at < now.length; at++) {
    const key = now[at] ?? ""
    if (key !== keys[at]) return false
    const property = Object.getOwnPropertyDescriptor(object, key)
    if (!isOrdinary(property) || !Object.is(property.value, values[at])) return false
  }
  return true
}

function hasElements(array: unknown[], values: readonly unknown[]): boolean {
  if (array.length !== values.length || !isPlainArray(array)) return false
  for (let at = 0; at < values.length; at++) {
    if (!Object.is(array[at], values[at])) return false
    if (values[at] === undefined && Object.hasOwn(array, at) !== Object.hasOwn(values, at)) return false
  }
  return true
}

/** As what a name goes into a snapshot. */
function writtenAs(bound: Bound | undefined, value: unknown): Written {
  if (!bound || !Object.is(bound.value, value)) return "name"
  return bound.isVariable && isObject(value) ? "contents" : undefined
}

function isImport({ origins }: Namespace, name: string, value: unknown): boolean {
  return origins.moduleOf(name, value) !== undefined
}
