import { AsyncLocalStorage } from "node:async_hooks"
import { classOf, nameOfClass } from "../declare/inspect-class.ts"
import type { WireObject } from "../handles/wire.ts"

/** Objects and functions of a child that its host holds, by number. */
export interface CellObjects {
  /** The tagged value for an object. The code of the object runs for the cell that sent it. */
  give(value: object, within?: Within): WireObject
  find(id: number): { value: object; within: Within }
  release(id: number, count: number): void
}

export type Within = <T>(work: () => T) => T

export function createCellObjects(): CellObjects {
  const byId = new Map<number, { value: object; within: Within; sent: number }>()
  const ids = new Map<object, number>()
  let last = 0
  return {
    give(value, within = AsyncLocalStorage.snapshot()) {
      const id = ids.get(value) ?? ++last
      const entry = byId.get(id) ?? { value, within, sent: 0 }
      entry.sent++
      ids.set(value, id)
      byId.set(id, entry)
      return { $: "p", id, type: typeName(value), callable: typeof value === "function" }
    },
    find(id) {
      const entry = byId.get(id)
      if (!entry) throw new ReferenceError("The object of the cell is gone: the host has released it.")
      return entry
    },
    release(id, count) {
      const entry = byId.get(id)
      if (!entry) return
      entry.sent -= count
      if (entry.sent > 0) return
      byId.delete(id)
      ids.delete(entry.value)
    },
  }
}

function typeName(value: object): string {
  if (typeof value === "function") return nameOfClass(value) || "function"
  const type = classOf(value)
  return (type && nameOfClass(type)) || "Object"
}
