// Watches built-in classes such as Array. The whole program shares them, so changes are reported and not undone.
import type { RuntimeLoss } from "../../runtime.ts"
import { keyText } from "../heap/object-trail.ts"
import { sameKeys } from "./own-properties.ts"

/** Records the keys of the built-in classes. The returned function reports keys added or removed since then. */
export function watchBuiltInClasses(): () => RuntimeLoss[] {
  const before = listKeys()
  return () => {
    lastListing = undefined
    return watchedObjects.flatMap(([name, object, path], at) => {
      const then = before[at] ?? []
      const now = Reflect.ownKeys(object)
      if (sameKeys(now, then)) return []
      return [...new Set(now).symmetricDifference(new Set(then))].map((key) => ({
        name,
        path: path + keyText(key),
        reason: "it belongs to the whole program, so what the cell added or removed stays so",
      }))
    })
  }
}

let lastListing: { shown: string[]; all: PropertyKey[][] } | undefined

// Listing all keys costs as much as a small cell. Keys are usually added by assignment, which makes them enumerable,
// and enumerable keys are cheap to compare.
function listKeys(): readonly PropertyKey[][] {
  const shown: string[] = []
  for (const [, object] of watchedObjects) for (const key in object) shown.push(key)
  if (!lastListing || !sameKeys(lastListing.shown, shown)) {
    lastListing = { shown, all: watchedObjects.map(([, object]) => Reflect.ownKeys(object)) }
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

const watchedObjects = builtInClasses.flatMap((type): [name: string, object, path: string][] => [
  [type.name, type, ""],
  [type.name, type.prototype, ".prototype"],
])
