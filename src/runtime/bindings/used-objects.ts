// Tracks which injected objects cells have used. A snapshot does not contain an injected object unless it is plain data
// or its class has a codec; after a restore, every object that a cell used is reported as possibly changed.
import { randomUUID } from "node:crypto"
import { types } from "node:util"
import type { Binding } from "../bindings.ts"
import type { RuntimeLoss } from "../runtime.ts"
import type { Codecs } from "../snapshot/codec.ts"

export interface UsedObjects {
  markUsed(value: object): void
  has(value: object): boolean
  /** The names of objects that were used since the last call and that no snapshot contains. Starts the next period. */
  takeNames(bindings: ReadonlyMap<string, Binding>): string[]
}

export function createUsedObjects(codecs: Codecs = {}): UsedObjects {
  const lastUse = new WeakMap<object, number>()
  let period = 0
  return {
    markUsed: (value) => void lastUse.set(value, period),
    has: (value) => lastUse.has(value),
    takeNames(bindings) {
      const currentPeriod = period++
      const isLost = (value: object) => !isPlainContainer(value) && codecOf(value, codecs) === undefined
      return injectedObjects(bindings)
        .filter(({ value }) => lastUse.get(value) === currentPeriod && isLost(value))
        .map(({ name }) => name)
    },
  }
}

/** The injected objects, without `external` ones. */
export function injectedObjects(bindings: ReadonlyMap<string, Binding>): { name: string; value: object }[] {
  const objects: { name: string; value: object }[] = []
  for (const [name, binding] of bindings) {
    if (binding.kind !== "variable" || binding.external) continue
    if (typeof binding.value === "object" && binding.value !== null) objects.push({ name, value: binding.value })
  }
  return objects
}

/** The entry in a snapshot for a used object that it does not contain. */
export function lostObjectState({ name, value }: { name: string; value: object }): RuntimeLoss {
  return { name, reason: createdAnewReason, asInjected: true, object: identityOf(value) }
}

const createdAnewReason = "it is created anew by the program; what cells changed in it is lost"

/** Removes entries whose object is still bound: that object has its state, and is marked as used again. */
export function dropSameObjects(
  lost: readonly RuntimeLoss[],
  bindings: ReadonlyMap<string, Binding>,
  used: UsedObjects,
): RuntimeLoss[] {
  const remaining = lost.flatMap((each): RuntimeLoss[] => {
    const { name, object } = each
    if (object === undefined) return [each]
    const binding = bindings.get(name)
    if (!binding) return [{ name, reason: notInjectedReason }]
    const value = binding.kind === "variable" ? binding.value : undefined
    if (typeof value !== "object" || value === null || identityOf(value) !== object) return [each]
    used.markUsed(value)
    return []
  })
  return [...new Map(remaining.map((each) => [JSON.stringify(each), each])).values()]
}

export const notInjectedReason = "it was injected, and is not in this runtime"

/** Identifies an object during the life of this process. */
function identityOf(value: object): string {
  const number = numbers.get(value) ?? ++lastNumber
  numbers.set(value, number)
  return `${processId}/${number}`
}

const processId = randomUUID()
const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** The codec of an object, with its name. Runs no code of the object. */
export function codecOf(value: object, codecs: Codecs): [name: string, codec: Codecs[string]] | undefined {
  if (types.isProxy(value)) return undefined
  return Object.entries(codecs).find(([, codec]) => Object.prototype.isPrototypeOf.call(codec.class.prototype, value))
}

/** Returns true for an array, a Map, a Set or an object without a class. */
export function isPlainContainer(value: object): boolean {
  if (types.isProxy(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || plainPrototypes.has(prototype)
}

const plainPrototypes = new Set<unknown>([Object.prototype, Array.prototype, Map.prototype, Set.prototype])
