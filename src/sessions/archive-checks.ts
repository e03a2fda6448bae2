import {
  isBoolean,
  isFiniteNumber,
  isListOf,
  isObject,
  isObjectWith,
  isString,
  type ShapeCheck,
} from "../core/checks/check-shape.ts"
import { isMessage, isMessageList } from "../core/checks/message-shape.ts"
import { AgentError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { isCallLog, type LoggedCall } from "./call-log.ts"
import type { SessionRecord } from "./session-archive.ts"

// An archive is a file that anybody may have changed: what is read from it is checked before anything is done with it.

/** The record of a session. Throws an `AgentError` of code `corrupt` that names what is wrong. */
export function checkRecord(value: unknown, where: string): SessionRecord {
  if (isSessionRecord(value)) return value as SessionRecord
  throw damagedSessionError(`The record of a session in ${where} is not as Karst writes it.`)
}

/** One event of a log. Throws an `AgentError` of code `corrupt` that names it by its position. */
export function checkEvent(value: unknown, index: number, where: string): AgentEvent {
  if (isEvent(value)) return value as AgentEvent
  throw damagedSessionError(`Event ${index + 1} of ${where} is not as Karst writes it.`)
}

/** The calls of the cycle that was under way. Throws an `AgentError` of code `corrupt`. */
export function checkCalls(value: unknown, where: string): LoggedCall[] | undefined {
  if (value === undefined) return undefined
  if (isCallLog(value)) return value as LoggedCall[]
  throw damagedSessionError(`The calls of ${where} are not as Karst writes them.`)
}

export function damagedSessionError(what: string): AgentError {
  return new AgentError(`${what} Restore it from a backup, or delete the session.`, { code: "corrupt" })
}

const isWriter = isObjectWith({
  host: isString,
  pid: (value) => Number.isInteger(value) && Number(value) > 0,
  token: isString,
  until: isFiniteNumber,
})

const isLost = isObjectWith(
  { name: isString, reason: isString },
  { path: isString, asInjected: isBoolean, object: isString },
)

const isSessionRecord = isObjectWith(
  {
    version: (value) => value === 1,
    id: isString,
    agent: isString,
    title: isString,
    createdAt: isFiniteNumber,
    updatedAt: isFiniteNumber,
    runs: isFiniteNumber,
    metadata: isObject,
    writer: isWriter,
  },
  {
    completedAt: isFiniteNumber,
    status: isString,
    snapshot: isObjectWith({ language: isString, hash: isString, lost: isListOf(isLost), at: isFiniteNumber }),
  },
)

const isUsage = isObjectWith({}, { input: isFiniteNumber, output: isFiniteNumber, costUsd: isFiniteNumber })
const isResult = { id: isString, ok: isBoolean, text: isString }

const eventShapes: Record<string, ShapeCheck> = {
  "run-start": isObjectWith({ agent: isString, messages: isMessageList, metadata: isObject }, { system: isString }),
  "run-end": isObjectWith({ status: isString, output: isString, cycles: isFiniteNumber, usage: isUsage }),
  "cycle-end": isObjectWith({ usage: isUsage }),
  "message-end": isObjectWith({ message: isMessage }),
  "prompt-steered": isObjectWith({ message: isMessage }),
  "code-end": isObjectWith({
    ...isResult,
    changes: isObjectWith(
      { created: isListOf(isString), reassigned: isListOf(isString), removed: isListOf(isString) },
      { used: isListOf(isString) },
    ),
  }),
  "tool-end": isObjectWith({ ...isResult, name: isString }),
  "warning-raised": isObjectWith({ code: isString, message: isString }, { names: isListOf(isString) }),
  "memory-compacted": isObjectWith({ from: isString, messages: isMessageList }, { to: isString }),
  "skill-activated": isObjectWith({ name: isString, messages: isMessageList }),
}

const hasEventHeader = isObjectWith(
  { type: isString, run: isString, seq: isFiniteNumber, at: isFiniteNumber },
  { parent: isString },
)

export const isEvent: ShapeCheck = (value) => {
  if (!hasEventHeader(value) || !isObject(value)) return false
  const type = String(value.type)
  return !Object.hasOwn(eventShapes, type) || eventShapes[type]?.(value) === true
}
