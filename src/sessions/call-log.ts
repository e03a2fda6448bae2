import { isBoolean, isListOf, isObjectWith, isString, type ShapeCheck } from "../core/checks/check-shape.ts"
import type { CallPreview } from "../core/event.ts"

/** A call of the cycle under way. */
export interface LoggedCall {
  call: CallPreview
  ended: boolean
}

/** The calls of the cycle under way of a session. They are written while the cycle goes on, so that a process that resumes
 *  the session after a crash knows which calls were started. */
export interface CallLog {
  /** A run begins: from now on calls are logged. */
  startRun(): void
  /** Logs a call that is about to be made. The returned function logs its end. */
  logCall(call: CallPreview): () => void
  /** A cycle is saved: calls that ended are part of the conversation now. */
  dropEndedCalls(): void
  /** What is to be stored; undefined where that is stored already. */
  takeUnstored(): LoggedCall[] | undefined
}

/** `changed` is called after a change, once until the change is taken. */
export function createCallLog(changed: () => void): CallLog {
  let calls: LoggedCall[] = []
  let isStored = true

  function change(): void {
    if (!isStored) return
    isStored = false
    changed()
  }

  return {
    startRun() {
      calls = []
      isStored = false
    },
    logCall(call) {
      const entry = { call, ended: false }
      calls.push(entry)
      // Calls without an outcome matter most.
      const oldest = calls.length > maxLoggedCalls ? calls.findIndex(({ ended }) => ended) : -1
      if (oldest >= 0) calls.splice(oldest, 1)
      change()
      return () => {
        entry.ended = true
        change()
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

/** Whether a value read from an archive is as `takeUnstored` gave it. */
export const isCallLog: ShapeCheck = isListOf(
  isObjectWith({ call: isObjectWith({ binding: isString, args: isString }, { method: isString }), ended: isBoolean }),
)
