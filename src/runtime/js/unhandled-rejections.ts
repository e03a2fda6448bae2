import { printUncaught } from "./ambient/cell-timers.ts"
import { CellStopped, cellStorage } from "./running-cell.ts"

/** A promise that a cell made and forgot must not end the host when it is rejected, nor reach the host's own listeners: its
 *  error is printed for the cell instead. All other rejections meet exactly what they would have met without us. Give back
 *  what this returns to end the watch; what stops leftovers of cells never reaches the host, also afterwards. Not covered: a
 *  promise that code outside any cell rejects, and exceptions in callbacks that a cell hands to Node's own callback
 *  interfaces. */
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
// Once a cell ran, code of it may wait somewhere for as long as the host lives.
let isInstalled = false

/** Node gives a rejection that nobody handles to the domain in which it happened, and to listeners only where there is none.
 *  Cells have one of ours; all other code sees `process.domain` as it is. A host that uses `node:domain` keeps that, and its
 *  listeners then hear of cells as well. */
function installCellDomain(): void {
  const property = Object.getOwnPropertyDescriptor(process, "domain")
  if (property && (!property.configurable || property.get || property.value)) return
  let value: unknown = property?.value
  Object.defineProperty(process, "domain", {
    get: () => (cellStorage.getStore() ? cellDomain : value),
    set(given: unknown) {
      value = given
    },
    enumerable: property?.enumerable ?? true,
    configurable: true,
  })
}

// Some libraries bind their callbacks to the domain of the caller.
const identity = <T>(value: T): T => value
const cellDomain = {
  bind: identity,
  intercept: identity,
  add() {},
  remove() {},
  enter() {},
  exit() {},
  run: <T>(work: () => T): T => work(),
  /** Tells Node that the rejection is handled. */
  emit(_event: string, reason: unknown): boolean {
    const cell = cellStorage.getStore()
    if (cell && !CellStopped.is(reason)) printUncaught(cell.shared, reason)
    return true
  },
}

function onUnhandledRejection(reason: unknown): void {
  // Node calls this in the context the promise was rejected in.
  const cell = cellStorage.getStore()
  if (CellStopped.is(reason)) return
  if (cell) return printUncaught(cell.shared, reason)
  if (process.listenerCount("unhandledRejection") > 1) return
  // Ours is the only listener and it is not ours to judge: step aside and let Node meet the same rejection again.
  process.off("unhandledRejection", onUnhandledRejection)
  Promise.reject(reason)
  setImmediate(() => {
    if (watchers > 0) process.on("unhandledRejection", onUnhandledRejection)
  })
}

// Node asks its monitors first and then, in the same breath, whether somebody handles the exception. A monitor changes
// nothing for the host; only what is ours finds a handler, and no handler of the host hears of it.
function onUncaughtException(thrown: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  const isLeftover = CellStopped.is(thrown) || (origin === "unhandledRejection" && cellStorage.getStore() !== undefined)
  if (!isLeftover || process.hasUncaughtExceptionCaptureCallback()) return
  const handlers = process.rawListeners("uncaughtException")
  process.removeAllListeners("uncaughtException")
  process.once("uncaughtException", () => {
    // A true boundary: Node types what it gives back as any function.
    for (const handler of handlers) process.on("uncaughtException", handler as NodeJS.UncaughtExceptionListener)
  })
}
