// Detects which names changed since a full snapshot, by comparing their objects with an image taken at that time.
import { types } from "node:util"
import { isObject } from "../../core/object.ts"
import { codecOf } from "../bindings/used-objects.ts"
import type { BoundValue, Namespace } from "../js/namespace.ts"
import type { Codecs } from "./codec.ts"
import { createKindCache, type KindCache, kindOf, platformObjects } from "./heap/object-kinds.ts"
import { copyElements, entriesOf, hasElements, membersOf } from "./undo/container-contents.ts"
import { isOrdinaryProperty } from "./undo/own-properties.ts"

/** An image of the plain data in a namespace. It excludes data that refers to functions, instances or injected objects:
 *  names with such data always count as changed. */
export interface BaseImage {
  names: Map<string, NameImage>
  groupOf: Map<object, SharingGroup>
  groups: SharingGroup[]
}

/** Names that share objects, and those objects. */
export interface SharingGroup {
  names: string[]
  objects: ObjectImage[]
  isPlain: boolean
}

interface NameImage {
  name: string
  value: unknown
  /** Whether the snapshot has it as a name of cells, as the contents of an injected value, or not at all. */
  written: WrittenAs
  isConstant: boolean
  /** Undefined for a primitive value. */
  group: SharingGroup | undefined
}

type WrittenAs = "name" | "contents" | undefined

/** An object and its contents at the time of the image. */
interface ObjectImage {
  object: object
  prototype: object | null
  /** The keys of a plain object; undefined for other kinds. */
  keys: PropertyKey[] | undefined
  values: unknown[]
}

export interface Changes {
  /** The names to write again. */
  names: Set<string>
  /** The names of the full snapshot that are replaced or removed. */
  dropped: string[]
  /** Returns the group of an object if nothing in the group has changed. */
  unchangedGroup(object: object): SharingGroup | undefined
  /** Returns true if the full snapshot contains this name and its value is current. */
  isStillValid(name: string): boolean
  /** True if most objects of a large image have changed. */
  isMostlyChanged: boolean
}

export interface ImageOptions {
  codecs: Codecs
  /** Names that are not in the snapshot. */
  excluded: ReadonlyMap<string, string | undefined>
}

export function createBaseImage(namespace: Namespace, { codecs, excluded }: ImageOptions): BaseImage {
  const { scope, constants } = namespace
  const bound = namespace.boundValues()
  const references = new Set([...bound.values()].map(({ value }) => value))
  const image: BaseImage = { names: new Map(), groupOf: new Map(), groups: [] }
  const kinds = createKindCache()

  for (const [name, value] of Object.entries(scope)) {
    if (excluded.has(name) || typeof value === "symbol" || isImport(namespace, name, value)) continue
    const written = writtenAs(bound.get(name), value)
    const entry: NameImage = { name, value, written, isConstant: constants.has(name), group: undefined }
    image.names.set(name, entry)
    if (!written || !isObject(value)) continue
    // An injected value is written as contents only under its own name, and as a reference everywhere else.
    const isReference = written === "contents" ? codecOf(value, codecs) !== undefined : references.has(value)
    entry.group = isReference ? { names: [], objects: [], isPlain: false } : addGroup(image, value, references, kinds)
  }
  for (const [name, { group }] of image.names) group && currentGroup(group).names.push(name)
  for (const entry of image.names.values()) if (entry.group) entry.group = currentGroup(entry.group)
  for (const [object, group] of image.groupOf) image.groupOf.set(object, currentGroup(group))
  image.groups = image.groups.filter((group) => !mergedInto.has(group))
  return image
}

/** Compares each object of an image once with its current state. Runs none of its code. */
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
  // Names usually keep their order, so most of them are found without a look into the map.
  const inOrder = [...image.names.values()]
  let next = 0
  // `Object.entries` takes several times as long for an object with many names.
  for (const name of Object.keys(scope)) {
    const value = scope[name]
    const before = inOrder[next]?.name === name ? inOrder[next++] : image.names.get(name)
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

/** Adds a value and everything reachable from it. Groups that share an object are merged. */
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
    const objectImage = imageOf(object, kinds)
    if (objectImage) group.objects.push(objectImage)
    else group.isPlain = false
    for (const value of objectImage?.values ?? []) {
      // Injected objects are written as references, even inside themselves.
      if (references.has(value) || typeof value === "symbol") group.isPlain = false
      else if (isObject(value)) pending.push(value)
    }
  }
  return group
}

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
  // Reading a Proxy would run its traps.
  if (types.isProxy(object)) return undefined
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

/** Returns how a name is written to a snapshot. */
function writtenAs(bound: BoundValue | undefined, value: unknown): WrittenAs {
  if (!bound || !Object.is(bound.value, value)) return "name"
  return bound.isVariable && isObject(value) ? "contents" : undefined
}

function isImport({ origins }: Namespace, name: string, value: unknown): boolean {
  return origins.moduleOf(name, value) !== undefined
}
