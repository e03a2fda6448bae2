// Timers of cells: a timer belongs to the cell that set it. It survives the end of the cell, but is cleared when the
// cell is stopped.
import { promisify } from "node:util"
import { printUncaught } from "../cell-errors.ts"
import { cellStorage, type RunningCell, type SharedCellState } from "../running-cell.ts"

export interface CellTimers {
  /** `setTimeout` and the like, as cells see them. */
  readonly globals: { readonly [name: string]: unknown }
  /** Clears the timers of a cell, or of all cells. */
  clear(cell?: RunningCell): void
  /** Sets whether waiting timers keep the host alive: they do while a cell runs, as it may wait for them. */
  setKeepsHostAlive(keepsAlive: boolean): void
  /** Wraps a callback that Node calls: it does not run after its cell was stopped, and its errors are printed instead
   *  of ending the host. */
  wrapCallback(callback: Callback): Callback
}

type Callback = (...args: unknown[]) => unknown
type Timer = NodeJS.Timeout | NodeJS.Immediate

export function createCellTimers(shared: SharedCellState): CellTimers {
  const owners = new Map<Timer, RunningCell | undefined>()

  const wrapCallback = (callback: Callback): Callback => {
    if (typeof callback !== "function") throw new TypeError(`The callback must be a function, not ${typeof callback}.`)
    const cell = cellStorage.getStore()
    const report = (error: unknown) => printUncaught(shared, error)
    return (...args) => {
      try {
        cell?.throwIfStopped()
        const result = callback(...args)
        if (result instanceof Promise) result.catch(report)
      } catch (error) {
        report(error)
      }
    }
  }

  const add = <T extends Timer>(timer: T): T => {
    owners.set(timer, cellStorage.getStore())
    if (shared.cells.size === 0) timer.unref()
    return timer
  }

  const once = <T extends Timer>(start: (callback: Callback) => T, callback: Callback): T => {
    const wrapped = wrapCallback(callback)
    const timer: T = start((...args) => {
      owners.delete(timer)
      wrapped(...args)
    })
    return add(timer)
  }

  const clearTimer = (timer?: Timer | null) => {
    if (timer) owners.delete(timer)
    stopTimer(timer)
  }

  const oneShotTimers = {
    setTimeout: (callback: Callback, delay?: number, ...args: unknown[]) =>
      once((run) => setTimeout(run, delay, ...args), callback),
    setImmediate: (callback: Callback, ...args: unknown[]) => once((run) => setImmediate(run, ...args), callback),
  }
  Object.defineProperty(oneShotTimers.setTimeout, promisify.custom, {
    value: (delay?: number, value?: unknown) =>
      new Promise((resolve) => oneShotTimers.setTimeout(resolve, delay, value)),
  })
  Object.defineProperty(oneShotTimers.setImmediate, promisify.custom, {
    value: (value?: unknown) => new Promise((resolve) => oneShotTimers.setImmediate(resolve, value)),
  })

  return {
    globals: {
      ...oneShotTimers,
      setInterval: (callback: Callback, delay?: number, ...args: unknown[]) =>
        add(setInterval(wrapCallback(callback), delay, ...args)),
      clearTimeout: clearTimer,
      clearInterval: clearTimer,
      clearImmediate: clearTimer,
      queueMicrotask: (callback: Callback) => queueMicrotask(wrapCallback(callback)),
    },
    clear(cell) {
      for (const [timer, owner] of owners) {
        if (cell && cell !== owner) continue
        stopTimer(timer)
        owners.delete(timer)
      }
    },
    setKeepsHostAlive(keepsAlive) {
      for (const timer of owners.keys()) keepsAlive ? timer.ref() : timer.unref()
    },
    wrapCallback,
  }
}

// Cells may use any of the three clear functions, with a timer, a number, null or nothing.
function stopTimer(timer?: Timer | null): void {
  if (typeof timer === "object" && timer !== null && !("refresh" in timer)) clearImmediate(timer)
  else clearTimeout(timer ?? undefined)
}
