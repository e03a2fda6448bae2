// Opens and closes the conversation of a run, with its runtime.
import { rejectOnAbort } from "../../core/abort.ts"
import { abortError } from "../../core/run.ts"
import { jsRuntime } from "../../runtime/js.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import type { AgentConfig } from "../agent-config.ts"
import { type Conversation, createConversation } from "../conversation.ts"

// Lets an aborted run stop waiting for its start or its runtime.
export async function rejectWhenAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await rejectOnAbort(work, signal)
  } catch (error) {
    throw signal.aborted ? abortError(signal) : error
  }
}

// Closes a runtime that is ready only after the run was aborted.
async function closeIfLate(opening: Promise<Runtime>, signal: AbortSignal): Promise<Runtime> {
  try {
    return await rejectWhenAborted(opening, signal)
  } catch (error) {
    void opening.then((late) => late.close()).catch(() => undefined)
    throw error
  }
}

/** Opens the conversation of a run: a new one, or one that continues an earlier one. */
export async function openConversation(
  config: AgentConfig,
  earlier?: Conversation,
  signal?: AbortSignal,
  workspace?: Workspace,
): Promise<Conversation> {
  if (earlier) return createConversation(earlier.runtime, earlier.ownsRuntime, earlier, { workspace })
  const { runtime = () => jsRuntime() } = config
  if (typeof runtime === "object") return createConversation(runtime, false)
  const opening = Promise.resolve(runtime())
  return createConversation(signal ? await closeIfLate(opening, signal) : await opening, true)
}

/** Closes the tools and the runtime that a conversation has opened. */
export async function closeConversation({ toolEnvironment, ownsRuntime, runtime }: Conversation): Promise<void> {
  await (await toolEnvironment)?.close()
  if (ownsRuntime) await runtime.close()
}
