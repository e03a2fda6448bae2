import { type Check, isNumber, isObject, isText, listOf, objectWith } from "../core/check-shape.ts"
import { damaged } from "../sessions/stored-data.ts"
import type { ConversationHead } from "./restore.ts"

/** What is stored of a conversation beside its events; undefined where nothing is. Throws an `AgentError` of code `corrupt` where it is
 *  not as `headOf` writes it. */
export function readStoredHead(value: unknown, id: string): ConversationHead | undefined {
  if (value === undefined || value === null) return undefined
  if (isHead(value)) return value as ConversationHead
  throw damaged(`What is stored of the conversation of session "${id}" is not as Karst writes it.`)
}

/** The state of a sub-agent's conversation, as far as what is stored has the form that Karst writes. */
export function readStoredState(value: unknown): Partial<Pick<ConversationHead, "tools" | "artifacts" | "memory">> {
  return isState(value) ? (value as Partial<ConversationHead>) : {}
}

const isMemory = objectWith(
  { failures: isNumber, skips: isNumber },
  {
    measured: objectWith({ tokens: isNumber, estimate: isNumber }),
    ceiling: isNumber,
  },
)
const isCounts: Check = (counts) => isObject(counts) && listOf(isNumber)(Object.values(counts))

const isState = objectWith({}, { tools: isObject, memory: isMemory, artifacts: isCounts })

const isHead = objectWith(
  {
    version: (version) => version === 1,
    told: listOf(isText),
    approved: listOf(isText),
    steered: listOf(isText),
    memory: isMemory,
    tools: isObject,
  },
  { systemRun: isText, promptHash: isText, gone: listOf(isText), artifacts: isCounts },
)
