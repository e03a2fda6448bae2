// Keeps unhandled rejections of cells away from the host: they do not end it and do not reach its listeners. The error
// is printed for the cell instead.
import { printUncaught } from "./cell-errors.ts"
import { CellStopped, cellStorage } from "./running-cell.ts"

/** Starts capturing rejections of cells and returns a function that ends it. Rejections outside cells take their usual
 *  way. A `CellStopped` of a leftover never reaches the host, also after the end. Not covered: a promise that code
 *  outside any cell rejects, and exceptions in callbacks that a cell passes to Node's callback APIs. */
export function captureCellRejections(): () => void {
  if (!isInstalled) {
    process.on("uncaughtExceptionMonitor", onUncaughtException)
    installCellDomain()
  }
  isInstalled = true
  if (watchers++ === 0) process.on("unhandledRejection", onUnhandledRejection)
  let ended = false
  return () => {
    if (!ended && --watchers === 0) process.off("unhandledRejection", onUnhandledRejection)
    ended = true
  }
}

let watchers = 0
// Never reset: code of a cell may wait somewhere for as long as the host lives.
let isInstalled = false

/** Node passes an unhandled rejection to the domain in which it happened, and to listeners only if there is none. Cells
 *  see a domain of ours; other code sees the real `process.domain`. If the host uses `node:domain`, nothing is
 *  installed, and its listeners also get rejections of cells. */
function installCellDomain(): void {
  const property = Object.getOwnPropertyDescriptor(process, "domain")
  if (property && (!property.configurable || property.get || property.value)) return
  let value: unknown = property?.value
  Object.defineProperty(process, "domain", {
    get: () => (cellStorage.getStore() ? cellDomain : value),
    set(newValue: unknown) {
      value = newValue
    },
    enumerable: property?.enumerable ?? true,
    configurable: true,
  })
}

// Some libraries bind callbacks to the caller's domain, so the usual methods exist.
const identity = <T>(value: T): T => value
const cellDomain = {
  bind: identity,
  intercept: identity,
  add() {},
  remove() {},
  enter() {},
  exit() {},
  run: <T>(work: () => T): T => work(),
  /** Returns true: the rejection is handled. */
  emit(_event: string, reason: unknown): boolean {
    const cell = cellStorage.getStore()
    if (cell && !CellStopped.is(reason)) printUncaught(cell.shared, reason)
    return true
  },
}

function onUnhandledRejection(reason: unknown): void {
  // Node calls this in the async context of the rejection.
  const cell = cellStorage.getStore()
  if (CellStopped.is(reason)) return
  if (cell) return printUncaught(cell.shared, reason)
  if (process.listenerCount("unhandledRejection") > 1) return
  // Our listener is the only one, and the rejection is not a cell's: remove it for a moment and reject again, so that
  // Node handles the rejection as usual.
  process.off("unhandledRejection", onUnhandledRejection)
  Promise.reject(reason)
  setImmediate(() => {
    if (watchers > 0) process.on("unhandledRejection", onUnhandledRejection)
  })
}

// Node calls its monitors first and then looks for handlers. For a leftover of a cell, replace the host's handlers by
// one that does nothing but restore them.
function onUncaughtException(thrown: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  const isLeftover = CellStopped.is(thrown) || (origin === "unhandledRejection" && cellStorage.getStore() !== undefined)
  if (!isLeftover || process.hasUncaughtExceptionCaptureCallback()) return
  const handlers = process.rawListeners("uncaughtException")
  process.removeAllListeners("uncaughtException")
  process.once("uncaughtException", () => {
    // Node types listeners as any function.
    for (const handler of handlers) process.on("uncaughtException", handler as NodeJS.UncaughtExceptionListener)
  })
}
