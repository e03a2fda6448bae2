// Folds the events of a conversation into a compact JSON form, and finds which names its cells created and used.
import type { AgentEvent, EventOf } from "../../core/event.ts"
import type { Message } from "../../core/message.ts"
import { createOwnEventFilter } from "../../core/trajectory.ts"
import type { Conversation } from "../conversation.ts"

/** A conversation before its events, as plain JSON. Its size depends on the messages, not on the number of events. */
export interface FoldedConversation {
  version: 1
  messages: Message[]
  /** When the prompts among the messages were given. */
  promptTimes?: [message: string, at: number][]
  system?: string
  /** The run whose `run-start` event contains that prompt. */
  systemRun?: string
  /** The activated skills, each with the id of the message that has its instructions. */
  activated: [skill: string, message: string][]
  /** The names that cells created and did not remove. */
  made: string[]
  /** The stored output of cells; see `outputsOfCells`. */
  outputs?: string[]
  /** The injected objects that cells used, that need a snapshot, and that were not reported as recreated since. */
  used: string[]
  /** The events of sub-agents' runs that wait or have not ended; such a run continues from them. */
  open: AgentEvent[]
  /** The runs that the next events may belong to, and the runs that started those in `open`. */
  runs: string[]
}

/** Folds a conversation up to its last event. `run` is the current run. */
export function foldConversation(conversation: Conversation, run: string): FoldedConversation {
  const { messages, promptTimes, system, systemRun, activatedSkills, events, folded } = conversation
  const open = eventsOfOpenChildRuns(events, folded)
  const runs = new Set([run])
  for (const { parent } of open) if (parent !== undefined) runs.add(parent)
  return {
    version: 1,
    messages: [...messages],
    promptTimes: messages.flatMap(({ id }): [string, number][] => {
      const time = promptTimes.get(id)
      return time ? [[id, time.at]] : []
    }),
    ...(system !== undefined && { system }),
    ...(systemRun !== undefined && { systemRun }),
    activated: [...activatedSkills],
    made: [...namesCreatedByCells(events, folded).keys()],
    outputs: outputsOfCells(events, folded),
    used: [...objectsUsedByCells(events, folded).used],
    open,
    runs: [...runs],
  }
}

/** Returns the names that cells created and did not remove, each with the position of the event that last created or
 *  changed it; -1 if that was before `events`. */
export function namesCreatedByCells(
  events: readonly AgentEvent[],
  folded?: FoldedConversation | undefined,
): Map<string, { changedAt: number }> {
  const made = new Map((folded?.made ?? []).map((name) => [name, { changedAt: -1 }]))
  const isOwn = createOwnEventFilter(folded?.runs)
  for (const [changedAt, event] of events.entries()) {
    if (!isOwn(event) || event.type !== "code-end") continue
    const { created, reassigned, removed } = event.changes
    for (const name of [...created, ...reassigned]) made.set(name, { changedAt })
    for (const name of removed) made.delete(name)
    for (const name of namesOfOutput(event)) made.set(name, { changedAt })
    for (const name of event.dropped ?? []) made.delete(name)
  }
  return made
}

/** Returns the names of stored output of cells that was not dropped, the oldest first. */
export function outputsOfCells(events: readonly AgentEvent[], folded?: FoldedConversation | undefined): string[] {
  const names = new Set(folded?.outputs)
  const isOwn = createOwnEventFilter(folded?.runs)
  for (const event of events) {
    if (!isOwn(event) || event.type !== "code-end") continue
    for (const name of namesOfOutput(event)) names.add(name)
    for (const name of event.dropped ?? []) names.delete(name)
  }
  return [...names]
}

function namesOfOutput({ kept, keptValue }: EventOf<"code-end">): string[] {
  return [kept, keptValue].filter((name) => name !== undefined)
}

/** Returns the injected objects that cells used and whose state no snapshot holds, and those that were reported as
 *  recreated and not used since. With `from`, only events from that position on count. */
export function objectsUsedByCells(
  events: readonly AgentEvent[],
  folded?: FoldedConversation | undefined,
  from?: number,
): { used: Set<string>; reported: Set<string> } {
  const used = new Set(from === undefined ? folded?.used : [])
  const reported = new Set<string>()
  const isOwn = createOwnEventFilter(folded?.runs)
  for (const [position, event] of events.entries()) {
    if (!isOwn(event) || position < (from ?? 0)) continue
    if (event.type === "code-end") {
      for (const name of event.changes.used ?? []) {
        used.add(name)
        reported.delete(name)
      }
    } else if (event.type === "warning-raised" && event.code === stateLostCode) {
      for (const name of event.names ?? []) {
        used.delete(name)
        reported.add(name)
      }
    }
  }
  return { used, reported }
}

/** The code of the warning about injected objects that were recreated. */
export const stateLostCode = "state-lost"

/** Returns the events of each child run that waits or has not ended, and of the runs below it. */
function eventsOfOpenChildRuns(events: readonly AgentEvent[], folded: FoldedConversation | undefined): AgentEvent[] {
  const isOwn = createOwnEventFilter(folded?.runs)
  // For each child run, the run at the top of its branch.
  const topOf = new Map<string, string>()
  const hasEnded = new Map<string, boolean>()
  const below = events.filter((event) => !isOwn(event))
  for (const event of below) {
    const { run, parent = "" } = event
    const top = topOf.get(parent) ?? run
    topOf.set(run, top)
    if (run === top) hasEnded.set(run, event.type === "run-end" && event.status !== "waiting")
  }
  return below.filter(({ run }) => !hasEnded.get(topOf.get(run) ?? run))
}
