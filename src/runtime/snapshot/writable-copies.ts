import { types } from "node:util"
import type { Payload } from "./payload.ts"
import { asData, omitted, type SnapshotWalk } from "./snapshot-walk.ts"
import { entriesOf, membersOf, valuesIn } from "./undo/container-contents.ts"
import { elementKey } from "./undo/own-properties.ts"

/** What is written in the place of objects that the engine cannot write as they are. */
export interface WritableCopies {
  /** The object to write for an object: itself, or a copy without what cannot be written. */
  writtenFor<T>(value: T): T
  places: Payload["places"]
  fillings: Payload["fillings"]
}

/** Copies the objects that hold what cannot be written and those that lead to them. All others are written as they are:
 *  mostly that is everything. */
export function createWritableCopies(survey: SnapshotWalk): WritableCopies {
  const { replaced } = survey
  const copies = new Map<unknown, object>()
  const places: Payload["places"] = []
  const fillings: Payload["fillings"] = []
  for (const container of containersToCopy(survey)) copies.set(container, emptyLike(container))

  const of = <T>(value: T): T => {
    const copy = copies.get(value)
    // A copy is of the kind of what it stands for.
    return copy === undefined ? value : (copy as T)
  }

  const put = (copy: object, key: string | number, value: unknown, verdict: number | undefined) => {
    if (verdict !== undefined && verdict !== omitted) places.push([copy, key, verdict])
    const written = verdict === undefined ? of(value) : undefined
    Object.defineProperty(copy, key, { value: written, writable: true, enumerable: true, configurable: true })
  }

  for (const [container, copy] of copies) {
    const verdicts = replaced.get(container as object)
    if (types.isMap(container) || types.isSet(container)) {
      const entries: unknown[] = []
      for (const [index, value] of remainingEntries(container, verdicts))
        put(entries, entries.length, value, verdicts?.get(index))
      fillings.push([copy, entries])
    } else {
      for (const key of Object.keys(container as object)) {
        const at = Array.isArray(container) ? elementKey(key) : key
        put(copy, at, Object.getOwnPropertyDescriptor(container, key)?.value, verdicts?.get(at))
      }
      if (Array.isArray(container)) Reflect.set(copy, "length", container.length)
    }
  }
  for (const { container, key, value, encoding: verdict } of survey.slots)
    put(container, key, value, verdict === asData ? undefined : verdict)
  return { writtenFor: of, places, fillings }
}

function containersToCopy({ replaced, containers }: SnapshotWalk): Set<object> {
  const leading = new Set<object>(replaced.keys())
  if (leading.size === 0) return leading
  for (let size = -1; size !== leading.size; ) {
    size = leading.size
    // Backwards, as what was found later is mostly inside what was found before.
    for (let at = containers.length - 1; at >= 0; at--) {
      const container = containers[at] as object
      // What has accessors is among them already: none is called.
      if (!leading.has(container) && valuesIn(container).some((value) => leading.has(value as object))) {
        leading.add(container)
      }
    }
  }
  return leading
}

function emptyLike(container: object): object {
  if (types.isMap(container)) return new Map()
  if (types.isSet(container)) return new Set()
  return Array.isArray(container) ? [] : {}
}

/** The entries of a map or set with their positions, without members and pairs whose key is lost. */
function remainingEntries(
  container: object,
  verdicts: ReadonlyMap<string | number, number> | undefined,
): [number, unknown][] {
  const isLost = (index: number) => verdicts?.get(index) === omitted
  if (types.isSet(container)) return [...membersOf(container).entries()].filter(([index]) => !isLost(index))
  const entries = types.isMap(container) ? entriesOf(container) : []
  return [...entries.entries()].filter(([index]) => !isLost(index - (index % 2)))
}
