// The child's objects and functions that the host holds, by number.
import { AsyncLocalStorage } from "node:async_hooks"
import { classOf, nameOfClass } from "../../declare/inspect-class.ts"
import type { WireObject } from "../../handles/wire.ts"

export type RunInContext = <T>(work: () => T) => T

export function createCellObjects() {
  const byId = new Map<number, SentObject>()
  const ids = new Map<object, number>()
  // A method that several objects share has one id per object.
  const ofOwners = new WeakMap<object, Map<object, number>>()
  const idsOf = (owner: object | undefined): Map<object, number> => {
    if (!owner) return ids
    const known = ofOwners.get(owner) ?? new Map<object, number>()
    ofOwners.set(owner, known)
    return known
  }
  let last = 0
  return {
    /** Returns the tagged value for an object. Calls of it later run for the cell that sent it. `owner`: the object
     *  that has the function as a method. */
    reference(value: object, within: RunInContext = AsyncLocalStorage.snapshot(), owner?: object): WireObject {
      const known = idsOf(owner)
      const id = known.get(value) ?? ++last
      const entry = byId.get(id) ?? { value, owner, within, sent: 0 }
      entry.sent++
      known.set(value, id)
      byId.set(id, entry)
      return { $: "p", id, type: typeName(value), callable: typeof value === "function" }
    },
    find(id: number): { value: object; owner: object | undefined; within: RunInContext } {
      const entry = byId.get(id)
      if (!entry) throw new ReferenceError("The object of the cell is gone: the host has released it.")
      return entry
    },
    release(id: number, count: number): void {
      const entry = byId.get(id)
      if (!entry) return
      entry.sent -= count
      if (entry.sent > 0) return
      byId.delete(id)
      idsOf(entry.owner).delete(entry.value)
    },
  }
}

interface SentObject {
  value: object
  owner: object | undefined
  within: RunInContext
  /** How often the object was sent to the host. */
  sent: number
}

function typeName(value: object): string {
  if (typeof value === "function") return nameOfClass(value) || "function"
  const type = classOf(value)
  return (type && nameOfClass(type)) || "Object"
}
