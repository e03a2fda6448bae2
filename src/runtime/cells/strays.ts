import { CellStopped, running } from "./running-cell.ts"
import { reportStray } from "./timers.ts"

/** A promise that a cell made and forgot must not end the host when it is rejected: its error is printed for the cell
 *  instead. All other rejections meet exactly what they would have met without us. Give back what this returns to end
 *  the watch. Not covered: a promise that code outside any cell rejects, and exceptions in callbacks that a cell hands
 *  to Node's own callback interfaces. */
export function watchStrays(): () => void {
  if (watchers++ === 0) process.on("unhandledRejection", onStray)
  let ended = false
  return () => {
    if (!ended && --watchers === 0) process.off("unhandledRejection", onStray)
    ended = true
  }
}

let watchers = 0

function onStray(reason: unknown): void {
  // Node calls this in the context the promise was rejected in.
  const cell = running.getStore()
  if (reason instanceof CellStopped) return
  if (cell) return reportStray(cell.shared, reason)
  if (process.listenerCount("unhandledRejection") > 1) return
  // Ours is the only listener and it is not ours to judge: step aside and let Node meet the same rejection again.
  process.off("unhandledRejection", onStray)
  Promise.reject(reason)
  setImmediate(() => {
    if (watchers > 0) process.on("unhandledRejection", onStray)
  })
}
