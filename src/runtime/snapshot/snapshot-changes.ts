import { types } from "node:util"
import type { BoundValue, Namespace } from "../js/namespace.ts"
import type { Codecs } from "./codec.ts"
import { createKindCache, isObject, type KindCache, kindOf, platformObjects } from "./heap/object-kinds.ts"
import { copyElements, entriesOf, isPlainArray, membersOf } from "./undo/container-contents.ts"
import { isOrdinaryProperty } from "./undo/own-properties.ts"

/** The plain data of a namespace at the time of a snapshot, to find out later which names have changed since. Only data
 *  without references to functions, instances or injected objects is in it: any other name counts as changed. */
export interface BaseImage {
  names: Map<string, NameImage>
  /** For each object in the image, its group. */
  groupOf: Map<object, SharingGroup>
  groups: SharingGroup[]
}

/** Names that share objects, with these objects. */
export interface SharingGroup {
  names: string[]
  objects: ObjectImage[]
  isPlain: boolean
}

interface NameImage {
  value: unknown
  /** Whether it was written as a name of cells, as the contents of an injected value, or not at all. */
  written: WrittenAs
  isConstant: boolean
  /** Undefined for a primitive value. */
  group: SharingGroup | undefined
}

type WrittenAs = "name" | "contents" | undefined

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
  unchangedGroup(object: object): SharingGroup | undefined
  /** Whether a name is in the whole snapshot and still holds. */
  isStillValid(name: string): boolean
  /** Whether more of the image has changed than not. */
  isMostlyChanged: boolean
}

export interface ImageOptions {
  codecs: Codecs
  /** Names that are not in the snapshot. */
  excluded: ReadonlyMap<string, string | undefined>
}

export function createBaseImage(namespace: Namespace, { codecs, excluded: left }: ImageOptions): BaseImage {
  const { scope, constants } = namespace
  const bound = namespace.boundValues()
  const references = new Set([...bound.values()].map(({ value }) => value))
  const image: BaseImage = { names: new Map(), groupOf: new Map(), groups: [] }
  const kinds = createKindCache()
  const hasCodec = (value: object) =>
    Object.values(codecs).some((codec) => Object.prototype.isPrototypeOf.call(codec.class.prototype, value))

  for (const [name, value] of Object.entries(scope)) {
    if (left.has(name) || typeof value === "symbol" || isImport(namespace, name, value)) continue
    const written = writtenAs(bound.get(name), value)
    const entry: NameImage = { value, written, isConstant: constants.has(name), group: undefined }
    image.names.set(name, entry)
    if (!written || !isObject(value)) continue
    // An injected value is written as its contents under its own name only, and as a reference anywhere else.
    const isReference = written === "contents" ? hasCodec(value) : references.has(value)
    entry.group = isReference ? { names: [], objects: [], isPlain: false } : addGroup(image, value, references, kinds)
  }
  for (const [name, { group }] of image.names) group && currentGroup(group).names.push(name)
  for (const entry of image.names.values()) if (entry.group) entry.group = currentGroup(entry.group)
  for (const [object, group] of image.groupOf) image.groupOf.set(object, currentGroup(group))
  image.groups = image.groups.filter((group) => !mergedInto.has(group))
  return image
}

/** Looks at each object of an image once. Runs none of its code. */
export function changesSince(image: BaseImage, namespace: Namespace): Changes {
  const { scope, constants } = namespace
  const bound = namespace.boundValues()
  const same = new Set<SharingGroup>()
  let unchanged = 0
  for (const group of image.groups) {
    if (!group.isPlain || !group.objects.every(isUnchanged)) continue
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
    unchangedGroup(object) {
      const group = image.groupOf.get(object)
      return group && same.has(group) ? group : undefined
    },
    isStillValid: (name) =>
      image.names.get(name)?.written !== undefined && !names.has(name) && Object.hasOwn(scope, name),
    isMostlyChanged: image.groupOf.size > 100 && unchanged < image.groupOf.size / 2,
  }
}

/** Adds a value with everything it reaches. Where it reaches objects of another group, the two become one. */
function addGroup(image: BaseImage, root: object, references: ReadonlySet<unknown>, kinds: KindCache): SharingGroup {
  let group: SharingGroup = { names: [], objects: [], isPlain: true }
  image.groups.push(group)
  const pending: object[] = [root]
  for (let object = pending.pop(); object; object = pending.pop()) {
    const known = image.groupOf.get(object)
    if (known) {
      group = mergeGroups(group, currentGroup(known))
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
const mergedInto = new WeakMap<SharingGroup, SharingGroup>()

function currentGroup(group: SharingGroup): SharingGroup {
  let current = group
  for (let next = mergedInto.get(current); next; next = mergedInto.get(current)) current = next
  return current
}

function mergeGroups(one: SharingGroup, other: SharingGroup): SharingGroup {
  if (one === other) return one
  const [large, small] = one.objects.length < other.objects.length ? [other, one] : [one, other]
  for (const object of small.objects) large.objects.push(object)
  large.isPlain &&= small.isPlain
  mergedInto.set(small, large)
  return large
}

function imageOf(object: object, kinds: KindCache): ObjectImage | undefined {
  const prototype: object | null = Object.getPrototypeOf(object)
  if (!Object.isExtensible(object)) return undefined
  switch (kindOf(kinds, object)) {
    case "object": {
      if ((prototype !== null && prototype !== Object.prototype) || platformObjects.has(object)) return undefined
      if (types.isArgumentsObject(object)) return undefined
      return propertiesOf(object, prototype)
    }
    case "array": {
      const values = prototype === Array.prototype ? copyElements(object as unknown[]) : undefined
      return values && { object, prototype, keys: undefined, values }
    }
    case "map":
    case "set":
    case "date": {
      if (!builtInPrototypes.includes(prototype) || Reflect.ownKeys(object).length > 0) return undefined
      return { object, prototype, keys: undefined, values: contentsOf(object) }
    }
    default:
      return undefined
  }
}

const builtInPrototypes: unknown[] = [Map.prototype, Set.prototype, Date.prototype]

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
    if (typeof key === "symbol" || !isOrdinaryProperty(property)) return undefined
    values.push(property.value)
  }
  return { object, prototype, keys, values }
}

function isUnchanged({ object, prototype, keys, values }: ObjectImage): boolean {
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
    if (!isOrdinaryProperty(property) || !Object.is(property.value, values[at])) return false
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
function writtenAs(bound: BoundValue | undefined, value: unknown): WrittenAs {
  if (!bound || !Object.is(bound.value, value)) return "name"
  return bound.isVariable && isObject(value) ? "contents" : undefined
}

function isImport({ origins }: Namespace, name: string, value: unknown): boolean {
  return origins.moduleOf(name, value) !== undefined
}
