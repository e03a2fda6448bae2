import { isNumber, isObject, isText, listOf, objectWith } from "../core/check-shape.ts"
import { damaged } from "../sessions/stored-data.ts"
import type { ConversationHead } from "./restore.ts"

/** What is stored of a conversation beside its events; undefined where nothing is. Throws an `AgentError` of code `corrupt` where it is
 *  not as `headOf` writes it. */
export function readStoredHead(value: unknown, id: string): ConversationHead | undefined {
  if (value === undefined || value === null) return undefined
  if (isHead(value)) return value as ConversationHead
  throw damaged(`What is stored of the conversation of session "${id}" is not as Karst writes it.`)
}

const isHead = objectWith(
  {
    version: (version) => version === 1,
    told: listOf(isText),
    approved: listOf(isText),
    steered: listOf(isText),
    memory: objectWith(
      { failures: isNumber, skips: isNumber },
      {
        measured: objectWith({ tokens: isNumber, estimate: isNumber }),
        ceiling: isNumber,
      },
    ),
    tools: isObject,
  },
  { systemRun: isText, promptHash: isText, gone: listOf(isText) },
)
