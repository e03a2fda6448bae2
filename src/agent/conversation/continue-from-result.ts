import type { RunResult } from "../../core/agent.ts"
import type { Json } from "../../core/json.ts"
import { continuations } from "../../tools/delegate/restore-subtask.ts"
import type { AgentConfig } from "../agent-config.ts"
import { type Conversation, conversationOfResult } from "../conversation.ts"
import { applyStoredState, headOf, objectsLostWithProcess } from "./restore-conversation.ts"
import { readStoredState } from "./stored-head.ts"

/** Lets `from` continue the conversation of a result: in the same runtime, or from what can be stored of it. */
export function attachConversation(result: RunResult, conversation: Conversation): void {
  const { artifacts } = conversation
  conversationOfResult.set(result, conversation)
  continuations.set(result, {
    head() {
      // Approvals are left out: a stored result must not allow anything.
      const { tools, artifacts, memory } = headOf(conversation)
      return { tools, memory, ...(artifacts && { artifacts }) } as unknown as Json
    },
    unsaved: artifacts.unsaved,
    readArtifact: artifacts.find,
  })
}

/** Gives a fresh conversation what a result has beside its messages. A result that was read from JSON has its `state`. */
export async function restoreFromResult(
  fresh: Conversation,
  from: RunResult,
  { usesCode }: AgentConfig,
  isOtherRuntime: boolean,
): Promise<void> {
  const continuation = continuations.get(from)
  applyStoredState(fresh, continuation ? readStoredState(continuation.head()) : { tools: { ...from.state } })
  if (continuation) fresh.artifacts.setReader(continuation.readArtifact)
  // Its messages are here, its objects are not.
  if (usesCode && !isOtherRuntime) fresh.lost = await objectsLostWithProcess(from.trajectory.events, fresh.runtime)
}
