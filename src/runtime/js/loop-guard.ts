// The loop guard: compiled cells call it in loops and functions, so that a cell that is out of time or aborted stops.
import type { LoopGuard } from "../compiler/compile-cell.ts"
import { monotonicNow } from "../deadline.ts"
import { cellStorage, type RunningCell } from "./running-cell.ts"

export interface CellLoopGuard extends LoopGuard {
  /** Makes the next cell begin with frequent checks. So each of its loops checks once before the engine optimizes it; a
   *  check in a place that never ran before would discard the optimized code. */
  restart(): void
  /** Makes every guard check until no code of this stopped cell can run any more. */
  watchStoppedCell(cell: RunningCell): void
}

/** Checks of values that may be remote, for cells in a child process. */
export interface RemoteValueChecks {
  /** Stops the cells that the host asked to stop, also while code blocks the event loop. */
  readStopRequests(): void
  /** Throws for a remote member that would decide a condition or an equality before it is awaited. */
  checkValue(value: unknown): void
  /** Throws for an object whose fields cannot be compared with null or undefined before they are awaited. */
  checkFields(value: unknown): void
  /** Throws for a remote member that a default value may have to replace, but that was not awaited. */
  checkDefault(value: unknown): void
  /** Replaces a remote member by one that becomes undefined, with everything after it, if it is null or undefined. */
  optional(value: unknown): unknown
  /** Replaces an object by one whose remote members behave that way. */
  optionalMethods(value: unknown): unknown
}

/** Stops the cells of one runtime that are out of time or aborted. A check costs more than a countdown, so code checks
 *  at intervals: often if iterations are slow, seldom if they are fast. */
export function createLoopGuard(checks?: RemoteValueChecks): CellLoopGuard {
  let stoppedCells = 0
  let stride = minStride
  let checkedAt = 0
  let requestsReadAt = 0
  let skips = 0
  // A stopped cell may wait for ever. Once it is garbage-collected, no code of it can run any more.
  const collected = new FinalizationRegistry<undefined>(() => {
    stoppedCells--
  })
  const chosenDefaults = new WeakSet<object>()
  const tick = () => {
    const cell = cellStorage.getStore()
    cell?.throwIfStopped()
    const watching = stoppedCells > 0
    if (watching && skips-- > 0) {
      guard.left = 0
      return
    }
    // Code that blocks the event loop can only be stopped by its deadline, and in a child process by the host. If there
    // is neither, the clock is not read.
    const time = cell?.hasDeadline || checks ? monotonicNow() : checkedAt
    if (checks && time - requestsReadAt > maxRequestDelayMs) {
      requestsReadAt = time
      checks.readStopRequests()
      cell?.throwIfStopped()
    }
    if (cell?.hasDeadline) cell.throwIfPastDeadline(time)
    stride = time - checkedAt < maxIntervalMs ? Math.min(stride * 2, maxStride) : minStride
    checkedAt = time
    skips = Math.min(stride, maxSkips)
    guard.left = watching ? 0 : stride
  }
  const guard: CellLoopGuard = {
    left: minStride,
    // The engine does not inline a Proxy. Inlining `tick` into each loop of a cell takes it tens of milliseconds.
    tick: new Proxy(tick, {}),
    restart() {
      guard.left = 0
      stride = minStride
    },
    resume(value) {
      cellStorage.getStore()?.throwIfStopped()
      if (guard.left > minStride) guard.left = stride = minStride
      return value
    },
    value(value) {
      checks?.checkValue(value)
      return value
    },
    fields(value) {
      checks?.checkFields(value)
      return value
    },
    defaults(...values) {
      for (const value of values)
        if (typeof value === "function" && !chosenDefaults.has(value)) checks?.checkDefault(value)
    },
    chosen(value) {
      if (typeof value === "function") chosenDefaults.add(value)
      return value
    },
    optional: (value) => (typeof value === "function" && checks ? checks.optional(value) : value),
    optionalMethods: (value) => (Object(value) === value && checks ? checks.optionalMethods(value) : value),
    watchStoppedCell(cell) {
      stoppedCells++
      guard.left = 0
      collected.register(cell, undefined)
    },
  }
  return guard
}

const minStride = 1
const maxStride = 4096
const maxSkips = 32
const maxIntervalMs = 1
const maxRequestDelayMs = 20
