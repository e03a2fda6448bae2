import type { RuntimeLoss } from "../../runtime.ts"
import { keyText } from "../heap/object-trail.ts"
import { sameKeys } from "./own-properties.ts"

/** Looks at the classes of the language, which the whole program shares, so that nobody may put them back. Gives what tells
 *  the properties that they have got or lost since. */
export function watchBuiltInClasses(): () => RuntimeLoss[] {
  const before = listKeys()
  return () => {
    lastListing = undefined
    return watchedObjects.flatMap(([name, place, path], at) => {
      const had = before[at] ?? []
      const has = Reflect.ownKeys(place)
      if (sameKeys(has, had)) return []
      return [...new Set(has).symmetricDifference(new Set(had))].map((key) => ({
        name,
        path: path + keyText(key),
        reason: "it belongs to the whole program, so what the cell added or removed stays so",
      }))
    })
  }
}

let lastListing: { shown: string[]; all: PropertyKey[][] } | undefined

// To list them all costs as much as a small cell. They seldom change, and then by assignment, which shows at less cost.
function listKeys(): readonly PropertyKey[][] {
  const shown: string[] = []
  for (const [, place] of watchedObjects) for (const key in place) shown.push(key)
  if (!lastListing || !sameKeys(lastListing.shown, shown)) {
    lastListing = { shown, all: watchedObjects.map(([, place]) => Reflect.ownKeys(place)) }
  }
  return lastListing.all
}

const builtInClasses = [
  Object,
  Array,
  String,
  Number,
  Boolean,
  BigInt,
  Symbol,
  Function,
  Date,
  RegExp,
  Map,
  Set,
  Promise,
  Error,
]

const watchedObjects = builtInClasses.flatMap((type): [name: string, place: object, path: string][] => [
  [type.name, type, ""],
  [type.name, type.prototype, ".prototype"],
])
