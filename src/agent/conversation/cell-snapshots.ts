// Keeps a snapshot of the objects from before each of the newest cells, so that a session can be forked from there.
import { ConfigError } from "../../core/errors.ts"
import type { AgentEvent, EventOf } from "../../core/event.ts"
import { createOwnEventFilter } from "../../core/trajectory.ts"
import { addUsage, noUsage } from "../../core/usage.ts"
import type { RuntimeSnapshot } from "../../runtime/runtime.ts"
import type { Conversation } from "../conversation.ts"
import type { EarlierPoint } from "./restore-conversation.ts"

export interface CellSnapshots {
  /** Takes a snapshot for each answer with a cell from now on. */
  follow(conversation: Conversation): void
  /** The point before the answer with this id. */
  pointBefore(answer: string): EarlierPoint
  /** For a fork, which has the same snapshots. */
  copy(): CellSnapshots
}

type KeptSnapshots = Map<string, Promise<RuntimeSnapshot | undefined>>

export function createCellSnapshots(most = 0, kept: KeptSnapshots = new Map()): CellSnapshots {
  let followed: Conversation | undefined
  return {
    follow(conversation) {
      followed = conversation
      if (most === 0) return
      const { record } = conversation
      const isOwn = createOwnEventFilter()
      for (const event of conversation.events) isOwn(event)
      conversation.record = (event) => {
        record(event)
        if (isOwn(event) && event.type === "message-end" && hasCell(event)) keep(event.message.id, conversation)
      }
    },
    pointBefore(answer) {
      const events = followed?.events.slice(followed.folded?.open.length) ?? []
      return {
        async events() {
          const dropped = events.findIndex((event) => event.type === "message-end" && event.message.id === answer)
          if (dropped === -1) throw new ConfigError(`There is no answer "${answer}" in this session. See messages().`)
          const later = events.slice(dropped)
          const changed = later.some((event) => event.type === "code-end")
          if (changed && !(await kept.get(answer)))
            throw new ConfigError(
              `The objects from before the answer "${answer}" were not kept. Open the session with keepSnapshots: the ` +
                "number of cells that can be undone.",
            )
          return eventsBefore(events, dropped)
        },
        async restoreObjects(runtime) {
          const snapshot = await kept.get(answer)
          return snapshot ? ((await runtime.restore?.({ ...snapshot, exact: true })) ?? []) : []
        },
      }
    },
    copy: () => createCellSnapshots(most, new Map(kept)),
  }

  // The event is recorded before its cell begins, and a runtime does one thing after the other: the snapshot comes
  // first.
  function keep(answer: string, { runtime }: Conversation): void {
    kept.set(answer, runtime.snapshot?.().catch(() => undefined) ?? Promise.resolve(undefined))
    for (const oldest of [...kept.keys()].slice(0, -most)) kept.delete(oldest)
  }
}

function hasCell({ message }: EventOf<"message-end">): boolean {
  return message.parts.some((part) => part.type === "code" && part.closed)
}

/** Returns the events up to the cycle of an answer. A run whose first cycle that is, is left out; any other is
 *  ended. */
function eventsBefore(events: readonly AgentEvent[], answer: number): AgentEvent[] {
  const run = events[answer]?.run
  const start = events.findLastIndex(({ type, run: of }, at) => at < answer && of === run && type === "run-start")
  const isCycle = ({ type, run: of }: AgentEvent, at: number) => at < answer && of === run && type === "cycle-start"
  const cycle = events.findLastIndex(isCycle)
  const kept = events.slice(0, cycle)
  const usages = kept.slice(start).flatMap((event) => (event.type === "cycle-end" && event.run === run ? [event] : []))
  const last = kept.at(-1)
  if (usages.length === 0 || !last || run === undefined) return events.slice(0, start)
  const end: AgentEvent = {
    type: "run-end",
    status: "aborted",
    output: "",
    cycles: usages.length,
    usage: usages.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
    detail: "The rest of this run was undone.",
    run,
    seq: last.seq + 1,
    at: last.at,
  }
  return [...kept, end]
}
