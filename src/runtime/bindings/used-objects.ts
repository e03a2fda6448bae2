import { randomUUID } from "node:crypto"
import { types } from "node:util"
import type { Binding } from "../bindings.ts"
import type { RuntimeLoss } from "../runtime.ts"
import type { Codecs } from "../snapshot/codec.ts"

// The state of injected objects is not in a snapshot, unless they are plain data or their class has a codec. After a restore
// they are as the program made them. What cells may have changed is reported by name: every object that a cell used.

/** The injected objects that cells have used. */
export interface UsedObjects {
  markUsed(value: object): void
  has(value: object): boolean
  /** The names of objects that were used since the last call and whose state no snapshot keeps. */
  takeNames(bindings: ReadonlyMap<string, Binding>): string[]
}

export function createUsedObjects(codecs: Codecs = {}): UsedObjects {
  const lastUse = new WeakMap<object, number>()
  let count = 0
  return {
    markUsed: (value) => void lastUse.set(value, count),
    has: (value) => lastUse.has(value),
    takeNames(bindings) {
      const now = count++
      return injectedObjects(bindings)
        .filter(
          ({ value }) => lastUse.get(value) === now && !isPlainContainer(value) && codecOf(value, codecs) === undefined,
        )
        .map(({ name }) => name)
    },
  }
}

/** The injected objects whose state belongs to the program: `external` ones are left out. */
export function injectedObjects(bindings: ReadonlyMap<string, Binding>): { name: string; value: object }[] {
  return [...bindings].flatMap(([name, binding]) => {
    if (binding.kind !== "variable" || binding.external) return []
    const { value } = binding
    return typeof value === "object" && value !== null ? [{ name, value }] : []
  })
}

/** What a snapshot says about a used object that is not in it. */
export function lostObjectState({ name, value }: { name: string; value: object }): RuntimeLoss {
  return { name, reason: createdAnewReason, asInjected: true, object: identityOf(value) }
}

const createdAnewReason = "it is created anew by the program; what cells changed in it is lost"

/** What is lost of a snapshot where these objects are bound. Where it is the very object that cells used, its state is there;
 *  it goes on counting as used. */
export function dropSameObjects(
  lost: readonly RuntimeLoss[],
  bindings: ReadonlyMap<string, Binding>,
  used: UsedObjects,
): RuntimeLoss[] {
  const found = lost.flatMap((each): RuntimeLoss[] => {
    const { name, object } = each
    if (object === undefined) return [each]
    const binding = bindings.get(name)
    if (!binding) return [{ name, reason: notInjectedReason }]
    const value = binding.kind === "variable" ? binding.value : undefined
    if (typeof value !== "object" || value === null || identityOf(value) !== object) return [each]
    used.markUsed(value)
    return []
  })
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
}

/** Why an injected name is lost that the restoring runtime does not have. */
export const notInjectedReason = "it was injected, and is not in this runtime"

/** Identifies an object as long as its process lives. */
function identityOf(value: object): string {
  const number = numbers.get(value) ?? ++lastNumber
  numbers.set(value, number)
  return `${processId}/${number}`
}

const processId = randomUUID()
const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** The codec of an object, with its name. Nothing of the object is run. */
export function codecOf(value: object, codecs: Codecs): [name: string, codec: Codecs[string]] | undefined {
  if (types.isProxy(value)) return undefined
  return Object.entries(codecs).find(([, codec]) => Object.prototype.isPrototypeOf.call(codec.class.prototype, value))
}

/** Whether an object is an array, a Map, a Set or an object without a class. */
export function isPlainContainer(value: object): boolean {
  if (types.isProxy(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || plainPrototypes.has(prototype)
}

const plainPrototypes = new Set<unknown>([Object.prototype, Array.prototype, Map.prototype, Set.prototype])
