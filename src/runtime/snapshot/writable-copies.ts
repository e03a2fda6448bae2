// Copies objects that V8 cannot serialize as they are, without the entries that are written as references.
import { types } from "node:util"
import type { Payload } from "./payload.ts"
import { asData, omitted, type SnapshotWalk } from "./snapshot-walk.ts"
import { entriesOf, membersOf, valuesIn } from "./undo/container-contents.ts"
import { elementKey } from "./undo/own-properties.ts"

export interface WritableCopies {
  /** Returns the object to serialize: the object itself, or its copy. */
  writtenFor<T>(value: T): T
  places: Payload["places"]
  fillings: Payload["fillings"]
}

/** Copies every container with unwritable entries and every container that leads to one. All other objects, usually
 *  nearly all, are written as they are. */
export function createWritableCopies(walk: SnapshotWalk): WritableCopies {
  const { replaced } = walk
  const copies = new Map<unknown, object>()
  const places: Payload["places"] = []
  const fillings: Payload["fillings"] = []
  for (const container of containersToCopy(walk)) copies.set(container, emptyLike(container))

  const writtenFor = <T>(value: T): T => {
    const copy = copies.get(value)
    // A copy has the same kind as its original.
    return copy === undefined ? value : (copy as T)
  }

  const put = (copy: object, key: string | number, value: unknown, encoding: number | undefined) => {
    if (encoding !== undefined && encoding !== omitted) places.push([copy, key, encoding])
    const written = encoding === undefined ? writtenFor(value) : undefined
    Object.defineProperty(copy, key, { value: written, writable: true, enumerable: true, configurable: true })
  }

  for (const [container, copy] of copies) {
    const encodings = replaced.get(container as object)
    if (types.isMap(container) || types.isSet(container)) {
      const entries: unknown[] = []
      for (const [index, value] of remainingEntries(container, encodings))
        put(entries, entries.length, value, encodings?.get(index))
      fillings.push([copy, entries])
    } else {
      for (const key of Object.keys(container as object)) {
        const at = Array.isArray(container) ? elementKey(key) : key
        put(copy, at, Object.getOwnPropertyDescriptor(container, key)?.value, encodings?.get(at))
      }
      if (Array.isArray(container)) Reflect.set(copy, "length", container.length)
    }
  }
  for (const { container, key, value, encoding } of walk.slots)
    put(container, key, value, encoding === asData ? undefined : encoding)
  return { writtenFor, places, fillings }
}

function containersToCopy({ replaced, containers }: SnapshotWalk): Set<object> {
  const toCopy = new Set<object>(replaced.keys())
  if (toCopy.size === 0) return toCopy
  for (let size = -1; size !== toCopy.size; ) {
    size = toCopy.size
    // Backwards, because objects found later are usually inside objects found earlier.
    for (let at = containers.length - 1; at >= 0; at--) {
      const container = containers[at] as object
      // This calls no accessor: containers with accessors are already in the set.
      if (!toCopy.has(container) && valuesIn(container).some((value) => toCopy.has(value as object))) {
        toCopy.add(container)
      }
    }
  }
  return toCopy
}

function emptyLike(container: object): object {
  if (types.isMap(container)) return new Map()
  if (types.isSet(container)) return new Set()
  return Array.isArray(container) ? [] : {}
}

/** Returns the entries of a map or set with their positions, without lost members and pairs with a lost key. */
function remainingEntries(
  container: object,
  encodings: ReadonlyMap<string | number, number> | undefined,
): [number, unknown][] {
  const isLost = (index: number) => encodings?.get(index) === omitted
  if (types.isSet(container)) return [...membersOf(container).entries()].filter(([index]) => !isLost(index))
  const entries = types.isMap(container) ? entriesOf(container) : []
  return [...entries.entries()].filter(([index]) => !isLost(index - (index % 2)))
}
