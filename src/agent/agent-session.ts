import { isJournaled, type Journal, keepJournal } from "../actions/journal.ts"
import type { Run } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import { hiddenField } from "../core/hidden-field.ts"
import type { Json } from "../core/json.ts"
import { newId, type Prompt } from "../core/message.ts"
import type { RunContext } from "../core/run-context.ts"
import type { Turn } from "../core/serial-queue.ts"
import { ownEvents } from "../core/trajectory.ts"
import {
  type Archive,
  type ArchiveOptions,
  type ArchiveSource,
  artifactReader,
  openArchive,
  readArtifacts,
  readRecording,
  readSession,
  type StoredSession,
} from "../sessions/archive.ts"
import { parseHandle } from "../sessions/handle.ts"
import { approvalsLeftOut, refuseForeignArchive } from "../sessions/handle-folder.ts"
import { recordingJournal } from "../sessions/recording.ts"
import { createSession, type SessionOf } from "../sessions/session.ts"
import { createWriter, type SessionWriter, takeOver } from "../sessions/writer.ts"
import type { AgentConfig } from "./config.ts"
import type { Conversation } from "./conversation.ts"
import type { CodeRunOptions } from "./create-agent.ts"
import { copyConversation, headOf, restoreConversation } from "./restore.ts"
import { readStoredHead } from "./stored-head.ts"

/** What a session of our own agents is made with. */
export interface SessionSeat {
  config: AgentConfig
  /** A new conversation. */
  open(): Promise<Conversation>
  end(conversation: Conversation): Promise<void>
  /** Starts a run of the session's agent. `enter` gives the conversation once the run may have it. */
  start(
    prompt: Prompt,
    sent: CodeRunOptions | undefined,
    turn: Turn,
    enter: (run: RunContext) => Promise<Conversation>,
  ): Run
}

/** Opens a session, new or kept, and keeps it where there is an archive. `journal` gives what each run, by its number,
 *  asks from outside. */
export async function openSession(
  seat: SessionSeat,
  options: ArchiveOptions,
  journal?: JournalOfRun,
): Promise<SessionOf<CodeRunOptions>> {
  const { id, source, isNamedByHandle } = placeOf(options)
  const archive = source === undefined ? undefined : openArchive(source)
  try {
    const stored = archive && id !== undefined ? await readSession(archive, id) : undefined
    const writer = archive && stored ? await takeOver(archive, stored) : undefined
    const { recording = true, keepPrompt } = options
    const shared = stored ? await restored(stored, seat.config, { isNamedByHandle, keepPrompt }) : await seat.open()
    const keeping = archive && source !== undefined ? { archive, source, writer, recording } : undefined
    return sessionOn(seat, shared, id ?? newId("s"), keeping, journal)
  } catch (error) {
    await archive?.close()
    throw error
  }
}

export type JournalOfRun = (run: number) => Journal

type ReplaySession = (journal: JournalOfRun) => Promise<SessionOf<CodeRunOptions>>

const replays = hiddenField<ReplaySession>()

export function canReplay(agent: object, open: ReplaySession): void {
  replays.set(agent, open)
}

/** How a session of an agent of ours is replayed; undefined for any other. */
export function replaySession(agent: object): ReplaySession | undefined {
  return replays.of(agent)
}

interface Keeping {
  archive: Archive
  source: ArchiveSource
  writer: SessionWriter | undefined
  recording: boolean
}

interface SessionPlace {
  id?: string
  source: ArchiveOptions["archive"]
  /** Whether only the handle names the archive: then what was approved for good there does not count. */
  isNamedByHandle: boolean
}

function placeOf({ archive, resume }: ArchiveOptions): SessionPlace {
  if (resume === undefined) return { source: archive, isNamedByHandle: false }
  const { id, folder, provider } = parseHandle(resume)
  if (provider !== undefined) {
    throw new ConfigError(
      `Session "${id}" is one with ${provider}. Resume it by an agent of that CLI: ${provider}({ … }).session({ resume }).`,
    )
  }
  if (archive !== undefined) return { id, source: archive, isNamedByHandle: false }
  if (folder !== undefined) {
    refuseForeignArchive(folder, id)
    return { id, source: folder, isNamedByHandle: true }
  }
  throw new ConfigError(
    `Session "${id}" cannot be found without its archive: agent.session({ resume, archive }). Only the handle of a ` +
      "session that is archived in a folder says where it is.",
  )
}

async function restored(
  { events, record, snapshot, calls }: StoredSession,
  config: AgentConfig,
  { isNamedByHandle, keepPrompt }: { isNamedByHandle: boolean; keepPrompt: boolean | undefined },
): Promise<Conversation> {
  const stored = readStoredHead(record.head, record.id)
  const head = stored && isNamedByHandle ? { ...stored, approved: [] } : stored
  const kept = { events, head, snapshot, covered: record.snapshot?.at }
  const shared = await restoreConversation(kept, config, { keepPrompt })
  const lastRun = events.filter(ownEvents()).findLast(({ type }) => type === "run-start" || type === "run-end")
  if (lastRun?.type === "run-end" && lastRun.error?.code === "interrupted") {
    shared.interrupted = { calls: calls?.map(({ call, ended }) => ({ call, outcome: ended ? "finished" : "unknown" })) }
  }
  if (stored && isNamedByHandle && stored.approved.length > 0) shared.warnings.push(approvalsLeftOut(stored.approved))
  return shared
}

function sessionOn(
  seat: SessionSeat,
  shared: Conversation,
  id: string,
  keeping: Keeping | undefined,
  journal?: JournalOfRun,
): SessionOf<CodeRunOptions> {
  const { runtime } = shared
  const writer = keeping && (keeping.writer ?? createWriter(keeping.archive, id, seat.config.name))
  const isOwn = ownEvents()
  let runs = shared.events.filter((event) => isOwn(event) && event.type === "run-start").length
  let endedAt: number | undefined
  if (writer) keepBy(writer, shared)
  if (keeping) shared.artifacts.readFrom(artifactReader(keeping.archive, id))
  if (writer && !shared.ownsRuntime) shared.warnings.push(notKept)

  return createSession<CodeRunOptions>({
    id,
    archive: keeping && { folder: keeping.archive.folder, directory: keeping.archive.directory(id) },
    runtime,
    start: (prompt, sent, turn) =>
      seat.start(prompt, sent, turn, async (run) => {
        await writer?.claim()
        const number = runs++
        if (journal) keepJournal(run, journal(number))
        // One that must not do anything twice has a journal that this one must not replace.
        else if (writer && keeping?.recording && !isJournaled(run)) keepJournal(run, recordingOf(writer, number))
        return shared
      }),
    messages: () => shared.messages,
    events: () => shared.events,
    fork:
      runtime.fork &&
      (async () => {
        const copy = await copyConversation(shared)
        if (!keeping) return sessionOn(seat, copy, newId("s"), undefined)
        const [forked, archive] = [newId("s"), openArchive(keeping.source)]
        const writer = createWriter(archive, forked, seat.config.name)
        for (const event of copy.events) writer.record(event)
        for (const entry of await readRecording(keeping.archive, id)) writer.note(entry)
        for (const [name, text] of await readArtifacts(keeping.archive, id)) copy.artifacts.put(name, text)
        const session = sessionOn(seat, copy, forked, { ...keeping, archive, writer })
        await copy.saved?.(true, [])
        return session
      }),
    async close() {
      try {
        await seat.end(shared)
      } finally {
        endedAt = await writer?.close()
      }
      return endedAt
    },
  })
}

function recordingOf({ note, calls }: SessionWriter, number: number): Journal {
  calls.start()
  return recordingJournal(String(number), note, calls)
}

const notKept =
  "The runtime was given as an instance, so its objects are not kept with the session. Give a factory: runtime: () => jsRuntime({ … })."

/** Has a conversation written down: its events as they come, the rest when a run has ended. */
function keepBy(writer: SessionWriter, shared: Conversation): void {
  const { record } = shared
  shared.record = (event) => {
    record(event)
    writer.record(event)
  }
  shared.saved = async (ended, unheard) => {
    const current = headOf(shared)
    const head = { ...current, steered: [...current.steered, ...unheard] } as unknown as Json
    const artifacts = shared.artifacts.unsaved()
    if (ended) await writer.ended({ head, artifacts, snapshot: await snapshotOf(shared) })
    else await writer.saved({ head, artifacts })
    shared.artifacts.saved(artifacts)
  }
}

// A runtime that is gone keeps what was kept of it before; a shared one is its owner's to keep.
async function snapshotOf({ runtime, ownsRuntime }: Conversation) {
  if (!ownsRuntime) return undefined
  try {
    return await runtime.snapshot?.()
  } catch {
    return undefined
  }
}
