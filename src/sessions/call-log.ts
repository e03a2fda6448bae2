// Logs the calls of the cycle under way, so that a session that is resumed after a crash knows which calls were
// started.
import { isBoolean, isListOf, isObjectWith, isString, type ShapeCheck } from "../core/checks/check-shape.ts"
import type { CallPreview } from "../core/event.ts"

export interface LoggedCall {
  call: CallPreview
  ended: boolean
}

export interface CallLog {
  /** Empties the log for a new run. From now on calls are logged. */
  startRun(): void
  /** Logs a call that is about to be made. The returned function logs its end. */
  logCall(call: CallPreview): () => void
  /** After a saved cycle: drops the calls that have ended, because they are in the conversation now. */
  dropEndedCalls(): void
  /** Returns the calls and marks them as stored; undefined if nothing has changed since. */
  takeUnstored(): LoggedCall[] | undefined
}

/** `onChange` is called for the first change after `takeUnstored`. */
export function createCallLog(onChange: () => void): CallLog {
  let calls: LoggedCall[] = []
  let isStored = true

  function markChanged(): void {
    if (!isStored) return
    isStored = false
    onChange()
  }

  return {
    startRun() {
      calls = []
      isStored = false
    },
    logCall(call) {
      const entry = { call, ended: false }
      calls.push(entry)
      // If there are too many, drop the oldest call that has ended: calls without an outcome matter most.
      const oldest = calls.length > maxLoggedCalls ? calls.findIndex(({ ended }) => ended) : -1
      if (oldest >= 0) calls.splice(oldest, 1)
      markChanged()
      return () => {
        entry.ended = true
        markChanged()
      }
    },
    dropEndedCalls() {
      if (calls.length === 0) return
      calls = calls.filter(({ ended }) => !ended)
      isStored = false
    },
    takeUnstored() {
      if (isStored) return undefined
      isStored = true
      return calls.map((entry) => ({ ...entry }))
    },
  }
}

const maxLoggedCalls = 200

/** Checks a call log that was read from an archive. */
export const isCallLog: ShapeCheck = isListOf(
  isObjectWith({ call: isObjectWith({ binding: isString, args: isString }, { method: isString }), ended: isBoolean }),
)
