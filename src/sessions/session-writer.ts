// Writes a session into its archive, one guarded commit at a time.
import { ConflictError } from "../core/errors.ts"
import type { AgentEvent, EventOf } from "../core/event.ts"
import { isDelta } from "../core/event.ts"
import { asJson, type Json } from "../core/json.ts"
import { messageText, newId } from "../core/message.ts"
import { serialQueue } from "../core/serial.ts"
import { createOwnEventFilter, isUsageLimit } from "../core/trajectory.ts"
import { addUsage, noUsage } from "../core/usage.ts"
import type { RuntimeSnapshot } from "../runtime/runtime.ts"
import type { StoreChange } from "../stores/store.ts"
import { type CallLog, createCallLog } from "./call-log.ts"
import type { RecordingEntry } from "./recording-journal.ts"
import { type Archive, refuseIfBusy, type SessionRecord, type StoredSession, sessionKeys } from "./session-archive.ts"
import { registerWriter, unregisterWriter, writerLeaseMs } from "./writer-identity.ts"

/** Stores a session while it runs. Every commit is guarded: if another writer has taken the session over, the commit
 *  fails with a `ConflictError` and changes nothing. */
export interface SessionWriter {
  /** Stores that a run is under way, and renews this until the run ends. */
  claim(): Promise<void>
  /** Adds an event to the next commit. Deltas are left out. */
  addEvent(event: AgentEvent): void
  /** Adds an entry of the recording to the next commit. */
  addRecordingEntry(entry: RecordingEntry): void
  /** The calls of the cycle under way. Each change is stored. */
  readonly calls: CallLog
  /** Stores the new events and entries, and the state of the conversation after this cycle, if it is given. */
  commitCycle(state?: CycleState): Promise<void>
  /** Stores the state of the conversation and its runtime after a run. The session is then no longer busy. */
  commitRunEnd(left: CycleState & { snapshot?: RuntimeSnapshot | undefined }): Promise<void>
  /** Stores that the session has ended, and closes the archive. */
  close(): Promise<number | undefined>
}

/** The state of a conversation after a cycle, stored in the same commit as its events. */
export interface CycleState {
  /** The state of the conversation that is not in its events. */
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
  let storedEvents = stored?.events.length ?? 0
  let record: SessionRecord = stored
    ? { ...stored.record, writer }
    : { version: 1, id, agent, title: "", createdAt: Date.now(), updatedAt: 0, runs: 0, metadata: {}, writer }
  let events: AgentEvent[] = []
  let entries: RecordingEntry[] = []
  /** True if a run has begun since the record was stored: its title and metadata are stored with the next commit. */
  let hasBegun = false
  // Commits run one after the other, each with the revision of the one before.
  const inOrder = serialQueue()
  let renewal: NodeJS.Timeout | undefined
  for (const event of stored?.events ?? []) isOwn(event)
  // If this write fails, the next commit fails too, and that is reported.
  const calls = createCallLog(() => void inOrder(() => guarded(callChanges())).catch(() => undefined))

  // New events may change `record` during the commit, so afterwards only the given fields are set.
  async function put(changed: Partial<SessionRecord>, more: StoreChange[] = []): Promise<void> {
    hasBegun = false
    const change = { ...changed, updatedAt: Date.now() }
    const value = asJson({ ...record, ...change })
    revision = await guarded([...more, { type: "put", key: sessionKeys.record(id), value }])
    record = { ...record, ...change }
  }

  function callChanges(): StoreChange[] {
    const unstored = calls.takeUnstored()
    return unstored ? [{ type: "put", key: sessionKeys.calls(id), value: asJson(unstored) }] : []
  }

  // Stores the new events and entries by `store`. Those that arrive meanwhile are part of the next commit.
  async function withNewItems(store: (added: StoreChange[]) => Promise<unknown>): Promise<void> {
    calls.dropEndedCalls()
    const [newEvents, newEntries] = [events.length, entries.length]
    await store([
      { type: "append", log: sessionKeys.events(id), items: events.map(asJson) },
      { type: "append", log: sessionKeys.recording(id), items: entries.map(asJson) },
      ...callChanges(),
    ])
    storedEvents += newEvents
    events = events.slice(newEvents)
    entries = entries.slice(newEntries)
  }

  async function guarded(changes: StoreChange[]): Promise<number> {
    try {
      return await store.commit(changes, { key: sessionKeys.record(id), ifRevision: revision })
    } catch (error) {
      throw error instanceof ConflictError ? takenOverError(archive, id, error) : error
    }
  }

  // Stores no events: those of the cycle under way are stored all at once.
  const storeLease = () => inOrder(() => put({ writer: { ...writer, until: Date.now() + writerLeaseMs } }))

  function startRenewing(): void {
    renewal ??= setInterval(() => void storeLease().catch(() => undefined), writerLeaseMs / 3).unref()
  }

  function stopRenewing(): void {
    clearInterval(renewal)
    renewal = undefined
  }

  return {
    async claim() {
      await storeLease()
      startRenewing()
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
      entries.push(entry)
    },
    calls,
    commitCycle: (state) =>
      inOrder(() =>
        withNewItems((added) =>
          state
            ? put({ head: state.head }, [...added, ...artifactChanges(id, state.artifacts)])
            : hasBegun
              ? put({}, added)
              : guarded(added),
        ),
      ),
    commitRunEnd({ head, artifacts, snapshot }) {
      stopRenewing()
      return inOrder(async () => {
        const at = storedEvents + events.length
        const isNew = snapshot && snapshot.hash !== record.snapshot?.hash
        const bytes: StoreChange[] = isNew ? [{ type: "put", key: sessionKeys.snapshot(id), value: snapshot.data }] : []
        const known = snapshot && { ...snapshotInfo(snapshot), at }
        const more = [...bytes, ...artifactChanges(id, artifacts)]
        await withNewItems((added) => put({ writer, head, ...(known && { snapshot: known }) }, [...added, ...more]))
      })
    },
    async close() {
      stopRenewing()
      unregisterWriter(writer)
      // A session without a run was never stored. If another writer has taken it over, this one does not end it.
      const end = () => withNewItems((added) => put({ writer, completedAt: Date.now() }, added))
      try {
        if (revision > 0) await inOrder(end).catch(ignoreConflict)
      } finally {
        await archive.close()
      }
      return record.completedAt
    },
  }
}

/** Takes over a stored session: its earlier writer can no longer write. A run that never ended gets a `run-end`
 *  event. */
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
    // The usage of the cycle under way is unknown.
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

function snapshotInfo({ data, changes, ...rest }: RuntimeSnapshot): Omit<RuntimeSnapshot, "data" | "changes"> {
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
