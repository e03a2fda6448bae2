import { type Check, isFlag, isNumber, isObject, isText, listOf, objectWith } from "../core/check-shape.ts"
import { AgentError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { isMessage, isMessages } from "../core/message-shape.ts"
import type { SessionRecord } from "./archive.ts"
import { isCallLog, type LoggedCall } from "./call-log.ts"

// An archive is a file that anybody may have changed: what is read from it is checked before anything is done with it.

/** The record of a session. Throws an `AgentError` of code `corrupt` that names what is wrong. */
export function checkRecord(value: unknown, where: string): SessionRecord {
  if (isRecord(value)) return value as SessionRecord
  throw damaged(`The record of a session in ${where} is not as Karst writes it.`)
}

/** One event of a log. Throws an `AgentError` of code `corrupt` that names it by its position. */
export function checkEvent(value: unknown, index: number, where: string): AgentEvent {
  if (isEvent(value)) return value as AgentEvent
  throw damaged(`Event ${index + 1} of ${where} is not as Karst writes it.`)
}

/** The calls of the cycle that was under way. Throws an `AgentError` of code `corrupt`. */
export function checkCalls(value: unknown, where: string): LoggedCall[] | undefined {
  if (value === undefined) return undefined
  if (isCallLog(value)) return value as LoggedCall[]
  throw damaged(`The calls of ${where} are not as Karst writes them.`)
}

export function damaged(what: string): AgentError {
  return new AgentError(`${what} Restore it from a backup, or delete the session.`, { code: "corrupt" })
}

const isWriter = objectWith({
  host: isText,
  pid: (value) => Number.isInteger(value) && Number(value) > 0,
  token: isText,
  until: isNumber,
})

const isLost = objectWith({ name: isText, reason: isText }, { path: isText, asInjected: isFlag, object: isText })

const isRecord = objectWith(
  {
    version: (value) => value === 1,
    id: isText,
    agent: isText,
    title: isText,
    createdAt: isNumber,
    updatedAt: isNumber,
    runs: isNumber,
    metadata: isObject,
    writer: isWriter,
  },
  {
    completedAt: isNumber,
    status: isText,
    snapshot: objectWith({ language: isText, hash: isText, lost: listOf(isLost), at: isNumber }),
  },
)

const isUsage = objectWith({}, { input: isNumber, output: isNumber, costUsd: isNumber })
const isResult = { id: isText, ok: isFlag, text: isText }

const eventForms: Record<string, Check> = {
  "run-start": objectWith({ agent: isText, messages: isMessages, metadata: isObject }, { system: isText }),
  "run-end": objectWith({ status: isText, output: isText, cycles: isNumber, usage: isUsage }),
  "cycle-end": objectWith({ usage: isUsage }),
  "message-end": objectWith({ message: isMessage }),
  "prompt-steered": objectWith({ message: isMessage }),
  "code-end": objectWith({
    ...isResult,
    changes: objectWith(
      { created: listOf(isText), reassigned: listOf(isText), removed: listOf(isText) },
      { used: listOf(isText) },
    ),
  }),
  "tool-end": objectWith({ ...isResult, name: isText }),
  "warning-raised": objectWith({ code: isText, message: isText }, { names: listOf(isText) }),
  "memory-compacted": objectWith({ from: isText, messages: isMessages }, { to: isText }),
  "skill-activated": objectWith({ name: isText, messages: isMessages }),
}

const hasPlace = objectWith({ type: isText, run: isText, seq: isNumber, at: isNumber }, { parent: isText })

export const isEvent: Check = (value) => {
  if (!hasPlace(value) || !isObject(value)) return false
  const type = String(value.type)
  return !Object.hasOwn(eventForms, type) || eventForms[type]?.(value) === true
}
