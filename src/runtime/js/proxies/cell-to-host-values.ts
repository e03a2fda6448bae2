import { types } from "node:util"
import { type AnyFunction, isClass } from "../../bindings.ts"
import { cellStorage, type RunningCell } from "../running-cell.ts"
import { isHostProxy, unwrapObjectProxy } from "./function-proxy.ts"

/** Values of cells as guarded objects and functions of the host get them. */
export interface CellToHostValues {
  /** The real object for a facade or view. A function of a cell is given as one that is called with what cells may get
   *  (facades and views) and in the name of the cell that gave it; so are the functions in a plain object. Anything
   *  else is itself. */
  toHost(value: unknown): unknown
  /** The cell's own function or object, where a value is what `toHost` gave for it. */
  cellOriginalOf(value: object): object | undefined
  /** Whether a cell gave this object: then cells have it, and need no view of it. */
  cameFromCell(value: object): boolean
}

export function createCellToHostValues(show: (value: unknown) => unknown): CellToHostValues {
  const given = new WeakSet<object>()
  const forHost = new WeakMap<object, object>()
  const origins = new WeakMap<object, object>()

  const remember = <T extends object>(own: object, made: T): T => {
    forHost.set(own, made)
    origins.set(made, own)
    return made
  }

  const callback = (own: AnyFunction, cell: RunningCell | undefined): object =>
    remember(
      own,
      new Proxy(own, {
        apply(target, self, args: unknown[]) {
          const call = () => hostResult(Reflect.apply(target, show(self), args.map(show)))
          // The host may call it at any time, also while a cell of another agent is under way.
          return cell && cellStorage.getStore() !== cell ? cellStorage.run(cell, call) : call()
        },
      }),
    )

  const hostResult = (value: unknown): unknown =>
    types.isPromise(value) && Object.getPrototypeOf(value) === Promise.prototype
      ? value.then(values.toHost)
      : values.toHost(value)

  const holder = (own: object): object =>
    remember(
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
      if ((typeof value !== "object" || value === null) && typeof value !== "function") return value
      const real = unwrapObjectProxy(value)
      if (real !== value) return real
      const known = forHost.get(value)
      if (known) return known
      if (typeof value === "function") {
        return isHostProxy(value) || origins.has(value) || isClass(value)
          ? value
          : callback(value as AnyFunction, cellStorage.getStore())
      }
      if (containsFunctions(value, 3)) return holder(value)
      given.add(value)
      return value
    },
    cellOriginalOf: (value) => origins.get(value),
    cameFromCell: (value) => given.has(value),
  }
  return values
}

/** Whether a plain object or array has functions among its members, or deeper. Nothing of it is run. */
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
