// Converts values of cells to what guarded objects and functions of the host get.
import { types } from "node:util"
import { isObject } from "../../../core/object.ts"
import { type AnyFunction, isClass } from "../../bindings.ts"
import { cellStorage, type RunningCell } from "../running-cell.ts"
import { isHostProxy, unwrapObjectProxy } from "./function-proxy.ts"

export interface CellToHostValues {
  /** Returns the real object of a proxy. A function of a cell is wrapped: the host's calls of it run in the context of
   *  the cell that gave it, and convert arguments to what cells may get. Functions inside a plain object are wrapped as
   *  well. Any other value is returned itself. */
  toHost(value: unknown): unknown
  /** The cell's own function or object, if `toHost` returned the value for it. */
  cellOriginalOf(value: object): object | undefined
  /** Whether a cell passed this object to the host: cells have it already, so it needs no proxy. */
  cameFromCell(value: object): boolean
}

export function createCellToHostValues(toCell: (value: unknown) => unknown): CellToHostValues {
  const passedToHost = new WeakSet<object>()
  const hostVersions = new WeakMap<object, object>()
  const cellOriginals = new WeakMap<object, object>()

  const register = <T extends object>(own: object, made: T): T => {
    hostVersions.set(own, made)
    cellOriginals.set(made, own)
    return made
  }

  const wrapFunction = (own: AnyFunction, cell: RunningCell | undefined): object =>
    register(
      own,
      new Proxy(own, {
        apply(target, self, args: unknown[]) {
          const call = () => resultToHost(Reflect.apply(target, toCell(self), args.map(toCell)))
          // The host may call it at any time, also while a cell of another agent runs.
          return cell && cellStorage.getStore() !== cell ? cellStorage.run(cell, call) : call()
        },
      }),
    )

  const resultToHost = (value: unknown): unknown =>
    types.isPromise(value) && Object.getPrototypeOf(value) === Promise.prototype
      ? value.then(values.toHost)
      : values.toHost(value)

  const wrapContainer = (own: object): object =>
    register(
      own,
      new Proxy(own, {
        get(target, key) {
          const member: unknown = Reflect.get(target, key, target)
          const fixed = Object.getOwnPropertyDescriptor(target, key)
          return fixed?.writable === false && !fixed.configurable ? member : values.toHost(member)
        },
      }),
    )

  const values: CellToHostValues = {
    toHost(value) {
      if (!isObject(value)) return value
      const real = unwrapObjectProxy(value)
      if (real !== value) return real
      const known = hostVersions.get(value)
      if (known) return known
      if (typeof value === "function") {
        return isHostProxy(value) || cellOriginals.has(value) || isClass(value)
          ? value
          : wrapFunction(value as AnyFunction, cellStorage.getStore())
      }
      if (containsFunctions(value, 3)) return wrapContainer(value)
      passedToHost.add(value)
      return value
    },
    cellOriginalOf: (value) => cellOriginals.get(value),
    cameFromCell: (value) => passedToHost.has(value),
  }
  return values
}

/** Returns true if a plain object or array contains functions up to `depth` levels. Runs no code of the value. */
function containsFunctions(value: object, depth: number): boolean {
  if (depth === 0 || types.isProxy(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return false
  const keys = Object.keys(value)
  if (keys.length > 100) return false
  return keys.some((key) => {
    const member: unknown = Object.getOwnPropertyDescriptor(value, key)?.value
    if (typeof member === "function") return true
    return typeof member === "object" && member !== null && containsFunctions(member, depth - 1)
  })
}
