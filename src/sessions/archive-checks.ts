// Checks data that is read from an archive: anyone may have changed its files.
import type { ShapeCheck } from "../core/checks/check-shape.ts"
import { isBoolean, isFiniteNumber, isListOf, isObjectWith, isString } from "../core/checks/check-shape.ts"
import { isMessage, isMessageList, isPromptParts } from "../core/checks/message-shape.ts"
import { AgentError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { isRecord } from "../core/object.ts"
import { isCallLog, type LoggedCall } from "./call-log.ts"
import type { SessionRecord } from "./session-archive.ts"

/** Throws an `AgentError` of code `corrupt` if the value is not a session record. */
export function checkRecord(value: unknown, where: string): SessionRecord {
  if (isSessionRecord(value)) return value as SessionRecord
  throw damagedSessionError(`The record of a session in ${where} is not as Karst writes it.`)
}

/** Throws an `AgentError` of code `corrupt`, with the position, if the value is not an event. */
export function checkEvent(value: unknown, index: number, where: string): AgentEvent {
  if (isEvent(value)) return value as AgentEvent
  throw damagedSessionError(`Event ${index + 1} of ${where} is not as Karst writes it.`)
}

/** Throws an `AgentError` of code `corrupt` if the value is not a call log. */
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
    metadata: isRecord,
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
const hasImages = { images: isPromptParts }
const isCall = isObjectWith({ binding: isString, args: isString }, { method: isString })

const eventShapes: Record<string, ShapeCheck> = {
  "run-start": isObjectWith({ agent: isString, messages: isMessageList, metadata: isRecord }, { system: isString }),
  "run-end": isObjectWith({ status: isString, output: isString, cycles: isFiniteNumber, usage: isUsage }),
  "cycle-end": isObjectWith({ usage: isUsage }),
  "message-end": isObjectWith({ message: isMessage }),
  "prompt-steered": isObjectWith({ message: isMessage }),
  "code-end": isObjectWith(
    {
      ...isResult,
      changes: isObjectWith(
        { created: isListOf(isString), reassigned: isListOf(isString), removed: isListOf(isString) },
        { used: isListOf(isString) },
      ),
    },
    hasImages,
  ),
  "tool-start": isObjectWith({ id: isString, name: isString, input: (input) => input !== undefined }),
  "tool-end": isObjectWith({ ...isResult, name: isString }, hasImages),
  "call-start": isObjectWith({ id: isString, within: isString, call: isCall }),
  "approval-requested": isObjectWith({ id: isString, call: isCall }),
  "question-asked": isObjectWith({ id: isString, question: isString }),
  "limit-waiting": isObjectWith({ reason: isString, until: isFiniteNumber }),
  "warning-raised": isObjectWith({ code: isString, message: isString }, { names: isListOf(isString) }),
  "memory-compacted": isObjectWith({ from: isString, messages: isMessageList }, { to: isString }),
  "skill-activated": isObjectWith({ name: isString, messages: isMessageList }),
}

const hasEventHeader = isObjectWith(
  { type: isString, run: isString, seq: isFiniteNumber, at: isFiniteNumber },
  { parent: isString },
)

export const isEvent: ShapeCheck = (value) => {
  if (!hasEventHeader(value) || !isRecord(value)) return false
  const type = String(value.type)
  return !Object.hasOwn(eventShapes, type) || eventShapes[type]?.(value) === true
}
