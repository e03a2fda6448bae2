// Opens and closes the conversation of a run, with its runtime.
import { rejectOnAbort } from "../../core/abort.ts"
import type { Metadata } from "../../core/event.ts"
import { abortError } from "../../core/run.ts"
import { jsRuntime } from "../../runtime/js.ts"
import { type OpenedRuntime, openRuntime, runtimeContext } from "../../runtime/open-runtime.ts"
import type { RuntimeContext } from "../../runtime/typed-runtime.ts"
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
async function closeIfLate(opening: Promise<OpenedRuntime>, signal: AbortSignal): Promise<OpenedRuntime> {
  try {
    return await rejectWhenAborted(opening, signal)
  } catch (error) {
    void opening.then((late) => (late.ownsRuntime ? late.runtime.close() : undefined)).catch(() => undefined)
    throw error
  }
}

export interface ConversationOpening {
  /** The session that the conversation belongs to. */
  session?: string | undefined
  /** The metadata of the run. Default: that of the agent. */
  metadata?: Metadata | undefined
  /** Ends the wait for the runtime. */
  signal?: AbortSignal | undefined
  /** The conversation to continue, in its runtime. */
  earlier?: Conversation | undefined
  /** Replaces the workspace of the continued conversation. */
  workspace?: Workspace | undefined
}

/** Opens the conversation of a run or session: a new one, or one that continues an earlier one. */
export async function openConversation(config: AgentConfig, opening: ConversationOpening = {}): Promise<Conversation> {
  const { earlier, signal, workspace, session, metadata = config.metadata } = opening
  if (earlier) return createConversation(earlier.runtime, earlier.ownsRuntime, earlier, { workspace })
  const opened = openConfiguredRuntime(config, runtimeContext({ metadata }, { session, signal }))
  const { runtime, ownsRuntime } = signal ? await closeIfLate(opened, signal) : await opened
  return createConversation(runtime, ownsRuntime)
}

/** Opens the agent's runtime, or a new `jsRuntime` if it has none. */
export function openConfiguredRuntime({ runtime }: AgentConfig, context: RuntimeContext): Promise<OpenedRuntime> {
  return openRuntime(runtime ?? (() => jsRuntime()), context)
}

/** Closes the tools and the runtime that a conversation has opened. */
export async function closeConversation({ toolEnvironment, ownsRuntime, runtime }: Conversation): Promise<void> {
  await (await toolEnvironment)?.close()
  if (ownsRuntime) await runtime.close()
}
