import { ConflictError } from "../core/errors.ts"
import type { AgentEvent, EventOf } from "../core/event.ts"
import { isDelta } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { messageText, newId } from "../core/message.ts"
import { createOwnEventFilter, isUsageLimit } from "../core/trajectory.ts"
import { addUsage, noUsage } from "../core/usage.ts"
import type { RuntimeSnapshot } from "../runtime/runtime.ts"
import type { StoreChange } from "../stores/store.ts"
import { type CallLog, createCallLog } from "./call-log.ts"
import type { RecordingEntry } from "./recording-journal.ts"
import { type Archive, refuseIfBusy, type SessionRecord, type StoredSession, sessionKeys } from "./session-archive.ts"
import { registerWriter, unregisterWriter, writerLeaseMs } from "./writer-identity.ts"

/** Writes a session down as it goes on. Every commit is guarded: where another has taken the session over, it is a
 *  `ConflictError`, and nothing of the other's is touched. */
export interface SessionWriter {
  /** Says that a run begins. */
  claim(): Promise<void>
  /** Takes what is to be stored with the next commit. */
  addEvent(event: AgentEvent): void
  /** The same for what came from outside the run. */
  addRecordingEntry(entry: RecordingEntry): void
  /** The calls of the cycle under way; stored as they change. */
  readonly calls: CallLog
  /** Stores what was taken since the last time, and how the conversation is after this cycle, where that is known. */
  commitCycle(state?: CycleState): Promise<void>
  /** Stores how a run left the conversation and its runtime. */
  commitRunEnd(left: CycleState & { snapshot?: RuntimeSnapshot | undefined }): Promise<void>
  /** Says that the session has ended, and lets go of it. */
  close(): Promise<number | undefined>
}

/** What belongs to the events of a cycle and is stored in the same commit. */
export interface CycleState {
  /** What of the conversation is not in its events. */
  head: Json
  /** New artifacts, by name. */
  artifacts?: ReadonlyMap<string, string> | undefined
}

export function createSessionWriter(
  archive: Archive,
  id: string,
  agent: string,
  stored?: StoredSession,
): SessionWriter {
  const { store } = archive
  const writer = registerWriter(newId("w"))
  const isOwn = createOwnEventFilter()
  let revision = stored?.revision ?? 0
  let count = stored?.events.length ?? 0
  let record: SessionRecord = stored
    ? { ...stored.record, writer }
    : { version: 1, id, agent, title: "", createdAt: Date.now(), updatedAt: 0, runs: 0, metadata: {}, writer }
  let events: AgentEvent[] = []
  let notes: RecordingEntry[] = []
  /** Whether a run has begun since the record was written: its title and metadata are stored with the next commit. */
  let hasBegun = false
  let queue: Promise<unknown> = Promise.resolve()
  let lease: NodeJS.Timeout | undefined
  for (const event of stored?.events ?? []) isOwn(event)
  // A failure to write also fails the next commit, and that one is reported.
  const calls = createCallLog(() => void inTurn(() => guarded(callChanges())).catch(() => undefined))

  // One after the other, each on what the one before it left.
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work)
    queue = done.catch(() => undefined)
    return done
  }

  // The record is changed meanwhile by what comes: only what was asked for is put over it.
  async function put(changed: Partial<SessionRecord>, more: StoreChange[] = []): Promise<void> {
    hasBegun = false
    const change = { ...changed, updatedAt: Date.now() }
    const value = { ...record, ...change } as unknown as Json
    revision = await guarded([...more, { type: "put", key: sessionKeys.record(id), value }])
    record = { ...record, ...change }
  }

  function callChanges(): StoreChange[] {
    const unstored = calls.takeUnstored()
    return unstored ? [{ type: "put", key: sessionKeys.calls(id), value: unstored as unknown as Json }] : []
  }

  // What comes while this is under way waits for the next time.
  async function withNews(store: (news: StoreChange[]) => Promise<unknown>): Promise<void> {
    calls.dropEndedCalls()
    const [newEvents, newNotes] = [events.length, notes.length]
    // Both are plain JSON; an interface is not known to be.
    await store([
      { type: "append", log: sessionKeys.events(id), items: events.slice() as unknown as Json[] },
      { type: "append", log: sessionKeys.recording(id), items: notes.slice() as unknown as Json[] },
      ...callChanges(),
    ])
    count += newEvents
    events = events.slice(newEvents)
    notes = notes.slice(newNotes)
  }

  async function guarded(changes: StoreChange[]): Promise<number> {
    try {
      return await store.commit(changes, { key: sessionKeys.record(id), ifRevision: revision })
    } catch (error) {
      throw error instanceof ConflictError ? takenOverError(archive, id, error) : error
    }
  }

  // Without the events: of a cycle under way, all are stored or none.
  const renewed = () => inTurn(() => put({ writer: { ...writer, until: Date.now() + writerLeaseMs } }))

  function renew(): void {
    lease ??= setInterval(() => void renewed().catch(() => undefined), writerLeaseMs / 3).unref()
  }

  function letGo(): void {
    clearInterval(lease)
    lease = undefined
  }

  return {
    async claim() {
      await renewed()
      renew()
    },
    addEvent(event) {
      if (isDelta(event)) return
      events.push(event)
      if (!isOwn(event)) return
      if (event.type === "run-start") {
        record = { ...record, ...recordAfterRunStart(record, event) }
        hasBegun = true
      }
      if (event.type === "run-end") record = { ...record, ...recordAfterRunEnd(record, event) }
    },
    addRecordingEntry(entry) {
      notes.push(entry)
    },
    calls,
    commitCycle: (state) =>
      inTurn(() =>
        withNews((news) =>
          state
            ? put({ head: state.head }, [...news, ...artifactChanges(id, state.artifacts)])
            : hasBegun
              ? put({}, news)
              : guarded(news),
        ),
      ),
    commitRunEnd({ head, artifacts, snapshot }) {
      letGo()
      return inTurn(async () => {
        const at = count + events.length
        const isNew = snapshot && snapshot.hash !== record.snapshot?.hash
        const bytes: StoreChange[] = isNew ? [{ type: "put", key: sessionKeys.snapshot(id), value: snapshot.data }] : []
        const known = snapshot && { ...snapshotInfo(snapshot), at }
        const more = [...bytes, ...artifactChanges(id, artifacts)]
        await withNews((news) => put({ writer, head, ...(known && { snapshot: known }) }, [...news, ...more]))
      })
    },
    async close() {
      letGo()
      unregisterWriter(writer)
      // What was never sent anything was never stored. Where others have gone on, it is not ours to end.
      const end = () => withNews((news) => put({ writer, completedAt: Date.now() }, news))
      try {
        if (revision > 0) await inTurn(end).catch(ignoreConflict)
      } finally {
        await archive.close()
      }
      return record.completedAt
    },
  }
}

/** Takes a stored session over: whoever had it open cannot write any more. A run that never ended is given an end. */
export async function takeOverSession(archive: Archive, stored: StoredSession): Promise<SessionWriter> {
  refuseIfBusy(stored.record)
  const { completedAt, ...record } = stored.record
  const writer = createSessionWriter(archive, record.id, record.agent, { ...stored, record })
  const end = interruptedRunEnd(stored.events)
  if (end) {
    writer.addEvent(end)
    stored.events.push(end)
  }
  await writer.commitRunEnd({ head: record.head ?? null })
  return writer
}

function artifactChanges(id: string, artifacts: ReadonlyMap<string, string> = new Map()): StoreChange[] {
  return [...artifacts].map(([name, value]) => ({ type: "put", key: sessionKeys.artifacts(id) + name, value }))
}

function interruptedRunEnd(events: readonly AgentEvent[]): EventOf<"run-end"> | undefined {
  const isOwn = createOwnEventFilter()
  const own = events.filter(isOwn)
  const start = own.findLast((event) => event.type === "run-start" || event.type === "run-end")
  if (start?.type !== "run-start") return undefined
  const { run } = start
  const since = own.filter((event) => event.run === run)
  const cycles = since.filter((event) => event.type === "cycle-end")
  return {
    type: "run-end",
    run,
    seq: (since.at(-1)?.seq ?? 0) + 1,
    at: since.at(-1)?.at ?? start.at,
    status: "failed",
    output: "",
    cycles: cycles.length,
    // The cycle under way was not counted.
    usage: { ...cycles.reduce((sum, { usage }) => addUsage(sum, usage), noUsage), complete: false },
    error: { name: "AgentError", code: "interrupted", message: "The process ended before this run did." },
  }
}

function recordAfterRunStart(
  { title, runs, agent, metadata }: SessionRecord,
  event: EventOf<"run-start">,
): Partial<SessionRecord> {
  const prompt = event.messages.find((message) => message.role === "user" && message.origin === "prompt")
  const first = prompt ? messageText(prompt).replace(/\s+/g, " ").trim().slice(0, 100).toWellFormed() : ""
  return {
    title: title || first,
    agent: runs === 0 ? event.agent : agent,
    metadata: { ...metadata, ...event.metadata },
  }
}

function recordAfterRunEnd({ runs }: SessionRecord, event: EventOf<"run-end">): Partial<SessionRecord> {
  return { runs: runs + 1, status: event.status, usageLimited: isUsageLimit(event.error) }
}

function snapshotInfo({ data, ...rest }: RuntimeSnapshot): Omit<RuntimeSnapshot, "data"> {
  return rest
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof ConflictError)) throw error
}

function takenOverError({ name }: Archive, id: string, cause: ConflictError): ConflictError {
  return new ConflictError(
    `Session ${id} in ${name} was resumed or deleted elsewhere, so this one can no longer write it. ` +
      "Open it again with agent.session({ resume, archive }).",
    { cause, retryable: false, details: { id } },
  )
}
