// Continues the conversation of a result: in the same runtime, or in a new one from the stored part of it.
import type { RunResult } from "../../core/agent.ts"
import { asJson } from "../../core/json.ts"
import { continuations } from "../../tools/delegate/restore-subtask.ts"
import type { AgentConfig } from "../agent-config.ts"
import { type Conversation, conversationOfResult } from "../conversation.ts"
import { applyStoredState, headOf, objectsLostWithProcess } from "./restore-conversation.ts"
import { readStoredState } from "./stored-head.ts"

/** Attaches a conversation to its result, so that `from` can continue it. */
export function attachConversation(result: RunResult, conversation: Conversation): void {
  const { artifacts } = conversation
  conversationOfResult.set(result, conversation)
  continuations.set(result, {
    head() {
      // Approvals are not stored: a stored result must not allow any call.
      const { tools, artifacts, memory } = headOf(conversation)
      return asJson({ tools, memory, ...(artifacts && { artifacts }) })
    },
    unsaved: artifacts.unsaved,
    readArtifact: artifacts.find,
  })
}

/** Restores what a result has besides its messages. A result read from JSON has only its `state`. */
export async function restoreFromResult(
  conversation: Conversation,
  from: RunResult,
  { usesCode }: AgentConfig,
  isOtherRuntime: boolean,
): Promise<void> {
  const continuation = continuations.get(from)
  applyStoredState(conversation, continuation ? readStoredState(continuation.head()) : { tools: { ...from.state } })
  if (continuation) conversation.artifacts.setReader(continuation.readArtifact)
  // The messages are here, but the objects they mention are not.
  if (usesCode && !isOtherRuntime)
    conversation.lost = await objectsLostWithProcess(from.trajectory.events, conversation.runtime)
}
