import { rejectOnAbort } from "../../core/abort.ts"
import { abortError } from "../../core/run.ts"
import { jsRuntime } from "../../runtime/js.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import type { AgentConfig } from "../agent-config.ts"
import { type Conversation, createConversation } from "../conversation.ts"

// A run that is aborted while it waits for its turn, or for its runtime, need not wait any longer.
export async function rejectWhenAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await rejectOnAbort(work, signal)
  } catch (error) {
    throw signal.aborted ? abortError(signal) : error
  }
}

// A runtime that comes too late is closed.
async function closeIfLate(making: Promise<Runtime>, signal: AbortSignal): Promise<Runtime> {
  try {
    return await rejectWhenAborted(making, signal)
  } catch (error) {
    void making.then((late) => late.close()).catch(() => undefined)
    throw error
  }
}

/** Opens the conversation of a run: a new one, or one that goes on from an earlier. */
export async function openConversation(
  config: AgentConfig,
  earlier?: Conversation,
  signal?: AbortSignal,
  workspace?: Workspace,
): Promise<Conversation> {
  if (earlier) return createConversation(earlier.runtime, earlier.ownsRuntime, earlier, { workspace })
  const { runtime = () => jsRuntime() } = config
  if (typeof runtime === "object") return createConversation(runtime, false)
  const making = Promise.resolve(runtime())
  return createConversation(signal ? await closeIfLate(making, signal) : await making, true)
}

/** Ends what a conversation has opened. */
export async function closeConversation({
  toolEnvironment: ground,
  ownsRuntime,
  runtime,
}: Conversation): Promise<void> {
  await (await ground)?.close()
  if (ownsRuntime) await runtime.close()
}
