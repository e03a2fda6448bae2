// Checks the stored head of a conversation before it is used.
import { isFiniteNumber, isListOf, isObjectWith, isString, type ShapeCheck } from "../../core/checks/check-shape.ts"
import { isRecord } from "../../core/object.ts"
import { damagedSessionError } from "../../sessions/archive-checks.ts"
import type { ConversationHead } from "./restore-conversation.ts"

/** Returns the stored head of a conversation; undefined if there is none. Throws an `AgentError` with code `corrupt` if
 *  it is not in the form that `headOf` writes. */
export function readStoredHead(value: unknown, id: string): ConversationHead | undefined {
  if (value === undefined || value === null) return undefined
  if (isConversationHead(value)) return value as ConversationHead
  throw damagedSessionError(`What is stored of the conversation of session "${id}" is not as Karst writes it.`)
}

/** Returns the stored state of a sub-agent's conversation; empty if it is not in the form that Karst writes. */
export function readStoredState(value: unknown): Partial<Pick<ConversationHead, "tools" | "artifacts" | "memory">> {
  return isStoredState(value) ? (value as Partial<ConversationHead>) : {}
}

const isMemory = isObjectWith(
  { failures: isFiniteNumber, skips: isFiniteNumber },
  {
    measured: isObjectWith({ tokens: isFiniteNumber, estimate: isFiniteNumber }),
    ceiling: isFiniteNumber,
  },
)
const isCounts: ShapeCheck = (counts) => isRecord(counts) && isListOf(isFiniteNumber)(Object.values(counts))

const isStoredState = isObjectWith({}, { tools: isRecord, memory: isMemory, artifacts: isCounts })

const isConversationHead = isObjectWith(
  {
    version: (version) => version === 1,
    told: isListOf(isString),
    approved: isListOf(isString),
    steered: isListOf(isString),
    memory: isMemory,
    tools: isRecord,
  },
  { systemRun: isString, promptHash: isString, gone: isListOf(isString), artifacts: isCounts },
)
