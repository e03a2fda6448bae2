/** Writes back what was remembered of one object. Gives whether all of it could be. */
export type Restore = () => boolean

/** Whether a property is an ordinary one, as assignment makes it. */
export function isOrdinaryProperty(property: PropertyDescriptor | undefined): property is PropertyDescriptor {
  return property?.writable === true && property.enumerable === true && property.configurable === true
}

export function sameKeys(one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

/** Remembers an object's own properties, whatever they are like, its prototype and whether it was closed to new ones. */
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
  /** Keys that are left alone. */
  skip?: IsSkippedKey
}

export type IsSkippedKey = (key: PropertyKey) => boolean

/** Writes properties back in their order. What a cell froze or sealed cannot be opened again. */
export function restoreProperties(
  target: object,
  { prototype, keys, properties, extensible, skip = skipNone }: CapturedProperties,
): boolean {
  let whole = Object.getPrototypeOf(target) === prototype || Reflect.setPrototypeOf(target, prototype)
  const present = Reflect.ownKeys(target).filter((key) => !skip(key))
  if (!sameKeys(present, keys)) {
    const wanted = new Set(keys)
    // Keys come back in order only when all are taken away first, which must not be done to what takes no new ones.
    const all = Object.isExtensible(target)
    for (const key of present) {
      if (!all && wanted.has(key)) continue
      if (!Reflect.deleteProperty(target, key) && !wanted.has(key)) whole = false
    }
  }
  keys.forEach((key, at) => {
    const property = properties[at] ?? ordinaryProperty(undefined)
    if (isSameProperty(Object.getOwnPropertyDescriptor(target, key), property)) return
    if (!Reflect.defineProperty(target, key, property)) whole = false
  })
  return whole && Object.isExtensible(target) === extensible
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

/** Whether a key is that of an element of an array. */
export function isIndex(key: PropertyKey): boolean {
  return typeof key === "string" && /^(?:0|[1-9]\d{0,9})$/.test(key)
}

/** The key of an element as a number, any other as it is. */
export function elementKey(key: string): string | number {
  return isIndex(key) ? Number(key) : key
}

export function ordinaryProperty(value: unknown): PropertyDescriptor {
  return { value, writable: true, enumerable: true, configurable: true }
}

const skipNone: IsSkippedKey = () => false
