// Captures and restores the own properties of objects.
/** Restores one object. Returns true if all of it could be restored. */
export type Restore = () => boolean

/** Returns true for a property as assignment creates it: writable, enumerable and configurable. */
export function isOrdinaryProperty(property: PropertyDescriptor | undefined): property is PropertyDescriptor {
  return property?.writable === true && property.enumerable === true && property.configurable === true
}

export function sameKeys(one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

/** Captures an object's own properties, prototype and extensibility. */
export function captureProperties(target: object, skip: IsSkippedKey = skipNone): CapturedProperties {
  const keys = Reflect.ownKeys(target).filter((key) => !skip(key))
  return {
    prototype: Object.getPrototypeOf(target),
    keys,
    properties: keys.map((key) => Object.getOwnPropertyDescriptor(target, key) ?? ordinaryProperty(undefined)),
    extensible: Object.isExtensible(target),
    skip,
  }
}

export interface CapturedProperties {
  prototype: object | null
  keys: readonly PropertyKey[]
  properties: readonly PropertyDescriptor[]
  extensible: boolean
  skip?: IsSkippedKey
}

export type IsSkippedKey = (key: PropertyKey) => boolean

/** Restores properties in their order. An object that a cell froze or sealed stays so. */
export function restoreProperties(
  target: object,
  { prototype, keys, properties, extensible, skip = skipNone }: CapturedProperties,
): boolean {
  let isComplete = Object.getPrototypeOf(target) === prototype || Reflect.setPrototypeOf(target, prototype)
  const present = Reflect.ownKeys(target).filter((key) => !skip(key))
  if (!sameKeys(present, keys)) {
    const wanted = new Set(keys)
    // The order is restored only if all keys are deleted first, which is not possible if the object is not extensible.
    const all = Object.isExtensible(target)
    for (const key of present) {
      if (!all && wanted.has(key)) continue
      if (!Reflect.deleteProperty(target, key) && !wanted.has(key)) isComplete = false
    }
  }
  keys.forEach((key, at) => {
    const property = properties[at] ?? ordinaryProperty(undefined)
    if (isSameProperty(Object.getOwnPropertyDescriptor(target, key), property)) return
    if (!Reflect.defineProperty(target, key, property)) isComplete = false
  })
  return isComplete && Object.isExtensible(target) === extensible
}

function isSameProperty(one: PropertyDescriptor | undefined, other: PropertyDescriptor): boolean {
  return (
    one !== undefined &&
    Object.is(one.value, other.value) &&
    one.get === other.get &&
    one.set === other.set &&
    one.writable === other.writable &&
    one.enumerable === other.enumerable &&
    one.configurable === other.configurable
  )
}

/** Returns true for the key of an array element. */
export function isIndex(key: PropertyKey): boolean {
  return typeof key === "string" && /^(?:0|[1-9]\d{0,9})$/.test(key)
}

/** Converts the key of an element to a number; returns other keys unchanged. */
export function elementKey(key: string): string | number {
  return isIndex(key) ? Number(key) : key
}

export function ordinaryProperty(value: unknown): PropertyDescriptor {
  return { value, writable: true, enumerable: true, configurable: true }
}

const skipNone: IsSkippedKey = () => false
