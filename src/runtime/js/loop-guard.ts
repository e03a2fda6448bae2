import type { LoopGuard } from "../compiler/compile-cell.ts"
import { monotonicNow } from "../deadline.ts"
import { cellStorage, type RunningCell } from "./running-cell.ts"

export interface CellLoopGuard extends LoopGuard {
  /** From now on every guard asks, until nothing of this cell is left that could run. */
  watchStoppedCell(cell: RunningCell): void
}

/** Checks of values that may belong to another process. */
export interface RemoteValueChecks {
  /** Throws for a value that must not decide a condition or an equality. */
  checkValue(value: unknown): void
  /** Throws for an object whose fields cannot be compared with null or undefined before they are awaited. */
  checkFields(value: unknown): void
  /** Throws for a member that is not known to be undefined before it is awaited. */
  checkDefault(value: unknown): void
  /** A remote member that stands for undefined, with everything after it, where it is null or undefined. */
  optional(value: unknown): unknown
  /** An object whose remote members are such ones. */
  optionalMethods(value: unknown): unknown
}

/** Stops the cells of one runtime that are out of time or aborted. Asking costs more than counting, so code asks once in
 *  a while: often where iterations are slow, seldom where they are fast. */
export function createLoopGuard(checks?: RemoteValueChecks): CellLoopGuard {
  let zombies = 0
  let stride = minStride
  let askedAt = 0
  let skips = 0
  // A stopped cell may wait for something for ever. When the collector takes it, no code of it can run any more.
  const collected = new FinalizationRegistry<undefined>(() => {
    zombies--
  })
  const chosen = new WeakSet<object>()
  const guard: CellLoopGuard = {
    left: minStride,
    tick() {
      const cell = cellStorage.getStore()
      cell?.throwIfStopped()
      const watching = zombies > 0
      // Only time can stop code that does not let go of the event loop; where it does not count, nobody has to ask it.
      if (!cell?.hasDeadline || (watching && skips-- > 0)) {
        guard.left = watching ? 0 : untimedStride
        return
      }
      const time = monotonicNow()
      cell.throwIfPastDeadline(time)
      stride = time - askedAt < maxIntervalMs ? Math.min(stride * 2, maxStride) : minStride
      askedAt = time
      skips = stride
      guard.left = watching ? 0 : stride
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
      for (const value of values) if (typeof value === "function" && !chosen.has(value)) checks?.checkDefault(value)
    },
    chosen(value) {
      if (typeof value === "function") chosen.add(value)
      return value
    },
    optional: (value) => (typeof value === "function" && checks ? checks.optional(value) : value),
    optionalMethods: (value) => (Object(value) === value && checks ? checks.optionalMethods(value) : value),
    watchStoppedCell(cell) {
      zombies++
      guard.left = 0
      collected.register(cell, undefined)
    },
  }
  return guard
}

const minStride = 1
const maxStride = 256
const untimedStride = 1024
const maxIntervalMs = 1
