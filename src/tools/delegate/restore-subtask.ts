// Stores what a waiting sub-task needs to continue in another process, and restores it from the event log.
import type { RunResult } from "../../core/agent.ts"
import type { AgentEvent } from "../../core/event.ts"
import type { Json } from "../../core/json.ts"
import { trajectory } from "../../core/trajectory.ts"
import { createHiddenField } from "../../core/values/hidden-field.ts"
import type { Artifacts, ReadArtifact } from "../artifacts.ts"
import type { ToolState } from "../tool.ts"

/** The events and artifacts of a conversation, from which its sub-tasks are restored. */
export interface ConversationLog {
  events(): readonly AgentEvent[]
  artifacts: Artifacts
}

/** What a conversation needs, besides its messages, to continue in another process. */
export interface Continuation {
  /** The state of its tools and more, in the format of the agent that created it. */
  head(): Json
  /** Texts that only this process has. */
  unsaved(): ReadonlyMap<string, string>
  readArtifact: ReadArtifact
}

/** How the conversation of a result continues if its runtime is closed. */
export const continuations = createHiddenField<Continuation>()

const conversationLogs = new WeakMap<ToolState, ConversationLog>()

/** Registers the log in which sub-tasks of earlier processes are found. */
export function setConversationLog(state: ToolState, log: ConversationLog): void {
  conversationLogs.set(state, log)
}

/** The artifacts of the conversation whose tools share this state. */
export function artifactsOf(state: ToolState): Artifacts | undefined {
  return conversationLogs.get(state)?.artifacts
}

/** Stores the artifacts of a sub-task with those of the conversation that waits for it. Returns the rest of its
 *  continuation, which the caller stores. */
export function storeContinuation(state: ToolState, task: string, result: RunResult): Json {
  const continuation = continuations.get(result)
  for (const [name, text] of continuation?.unsaved() ?? []) artifactsOf(state)?.put(`${task}/${name}`, text)
  return continuation?.head() ?? null
}

/** A sub-task as stored in the state of the tools. */
export interface StoredSubtask {
  id: string
  /** The id of the waiting run. */
  run: string
  head: Json
}

/** Restores the result of a sub-agent's run from the log; undefined if the log has no end of the run. */
export function restoreSubtaskResult(state: ToolState, { id, run, head }: StoredSubtask): RunResult | undefined {
  const log = conversationLogs.get(state)
  const record = trajectory(eventsOfRunTree(log?.events() ?? [], run))
  const [own] = record.runs
  if (own?.status === undefined) return undefined
  const { status, output = "", cycles, usage, pending } = own
  const result: RunResult = {
    id: run,
    status,
    output,
    completion: { by: status === "waiting" ? "question" : "answer" },
    cycles,
    usage,
    messages: record.messages,
    trajectory: record,
    ...(pending && { pending }),
  }
  const artifacts = log?.artifacts
  continuations.set(result, {
    head: () => head,
    unsaved: () => new Map(),
    readArtifact: async (name) => await artifacts?.find(`${id}/${name}`),
  })
  return result
}

function eventsOfRunTree(events: readonly AgentEvent[], run: string): AgentEvent[] {
  const runs = new Set([run])
  return events.filter((event) => {
    if (event.parent !== undefined && runs.has(event.parent)) runs.add(event.run)
    return runs.has(event.run)
  })
}
