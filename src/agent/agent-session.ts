import { hasJournaledParent, type Journal, setJournal } from "../actions/run-journal.ts"
import type { Run } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { newId, type Prompt } from "../core/message.ts"
import type { RunContext } from "../core/run-context.ts"
import type { WaitForTurn } from "../core/run-queue.ts"
import { createOwnEventFilter } from "../core/trajectory.ts"
import { approvalsIgnoredMessage, refuseForeignArchive } from "../sessions/handle-trust.ts"
import { createRecordingJournal } from "../sessions/recording-journal.ts"
import { createSession, type SessionOf } from "../sessions/session.ts"
import {
  type Archive,
  type ArchiveOptions,
  type ArchiveSource,
  openArchive,
  readArtifacts,
  readRecording,
  readSession,
  type StoredSession,
  sessionArtifactReader,
} from "../sessions/session-archive.ts"
import { parseSessionHandle } from "../sessions/session-handle.ts"
import { createSessionWriter, type SessionWriter, takeOverSession } from "../sessions/session-writer.ts"
import type { AgentConfig } from "./agent-config.ts"
import { copyConversation, headOf, restoreConversation } from "./conversation/restore-conversation.ts"
import { readStoredHead } from "./conversation/stored-head.ts"
import type { Conversation } from "./conversation.ts"
import type { CodeRunOptions } from "./create-agent.ts"

/** What a session of our own agents is made with. */
export interface AgentSessionDriver {
  config: AgentConfig
  /** A new conversation. */
  openConversation(): Promise<Conversation>
  closeConversation(conversation: Conversation): Promise<void>
  /** Starts a run of the session's agent. `enter` gives the conversation once the run may have it. */
  startRun(
    prompt: Prompt,
    sent: CodeRunOptions | undefined,
    turn: WaitForTurn,
    enter: (run: RunContext) => Promise<Conversation>,
  ): Run
}

/** Opens a session, new or kept, and keeps it where there is an archive. `journal` gives what each run, by its number,
 *  asks from outside. */
export async function openSession(
  seat: AgentSessionDriver,
  options: ArchiveOptions,
  journal?: JournalForRun,
): Promise<SessionOf<CodeRunOptions>> {
  const { id, source, isNamedByHandle } = locateSession(options)
  const archive = source === undefined ? undefined : openArchive(source)
  try {
    const stored = archive && id !== undefined ? await readSession(archive, id) : undefined
    const writer = archive && stored ? await takeOverSession(archive, stored) : undefined
    const { recording = true, keepPrompt } = options
    const shared = stored
      ? await restoreStoredSession(stored, seat.config, { isNamedByHandle, keepPrompt })
      : await seat.openConversation()
    const keeping = archive && source !== undefined ? { archive, source, writer, recording } : undefined
    return createAgentSession(seat, shared, id ?? newId("s"), keeping, journal)
  } catch (error) {
    await archive?.close()
    throw error
  }
}

export type JournalForRun = (run: number) => Journal

interface ArchiveTarget {
  archive: Archive
  source: ArchiveSource
  writer: SessionWriter | undefined
  recording: boolean
}

interface SessionLocation {
  id?: string
  source: ArchiveOptions["archive"]
  /** Whether only the handle names the archive: then what was approved for good there does not count. */
  isNamedByHandle: boolean
}

function locateSession({ archive, resume }: ArchiveOptions): SessionLocation {
  if (resume === undefined) return { source: archive, isNamedByHandle: false }
  const { id, folder, provider } = parseSessionHandle(resume)
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

async function restoreStoredSession(
  { events, record, snapshot, calls }: StoredSession,
  config: AgentConfig,
  { isNamedByHandle, keepPrompt }: { isNamedByHandle: boolean; keepPrompt: boolean | undefined },
): Promise<Conversation> {
  const stored = readStoredHead(record.head, record.id)
  const head = stored && isNamedByHandle ? { ...stored, approved: [] } : stored
  const kept = { events, head, snapshot, covered: record.snapshot?.at }
  const shared = await restoreConversation(kept, config, { keepPrompt })
  const lastRun = events
    .filter(createOwnEventFilter())
    .findLast(({ type }) => type === "run-start" || type === "run-end")
  if (lastRun?.type === "run-end" && lastRun.error?.code === "interrupted") {
    shared.interrupted = { calls: calls?.map(({ call, ended }) => ({ call, outcome: ended ? "finished" : "unknown" })) }
  }
  if (stored && isNamedByHandle && stored.approved.length > 0)
    shared.warnings.push(approvalsIgnoredMessage(stored.approved))
  return shared
}

function createAgentSession(
  seat: AgentSessionDriver,
  shared: Conversation,
  id: string,
  keeping: ArchiveTarget | undefined,
  journal?: JournalForRun,
): SessionOf<CodeRunOptions> {
  const { runtime } = shared
  const writer = keeping && (keeping.writer ?? createSessionWriter(keeping.archive, id, seat.config.name))
  const isOwn = createOwnEventFilter()
  let runs = shared.events.filter((event) => isOwn(event) && event.type === "run-start").length
  let endedAt: number | undefined
  if (writer) archiveConversation(writer, shared)
  if (keeping) shared.artifacts.setReader(sessionArtifactReader(keeping.archive, id))
  if (writer && !shared.ownsRuntime) shared.warnings.push(objectsNotArchivedWarning)

  return createSession<CodeRunOptions>({
    id,
    archive: keeping && { folder: keeping.archive.folder, directory: keeping.archive.directory(id) },
    runtime,
    start: (prompt, sent, turn) =>
      seat.startRun(prompt, sent, turn, async (run) => {
        await writer?.claim()
        const number = runs++
        if (journal) setJournal(run, journal(number))
        // One that must not do anything twice has a journal that this one must not replace.
        else if (writer && keeping?.recording && !hasJournaledParent(run))
          setJournal(run, startRecording(writer, number))
        return shared
      }),
    messages: () => shared.messages,
    events: () => shared.events,
    fork:
      runtime.fork &&
      (async () => {
        const copy = await copyConversation(shared)
        if (!keeping) return createAgentSession(seat, copy, newId("s"), undefined)
        const [forked, archive] = [newId("s"), openArchive(keeping.source)]
        const writer = createSessionWriter(archive, forked, seat.config.name)
        for (const event of copy.events) writer.addEvent(event)
        for (const entry of await readRecording(keeping.archive, id)) writer.addRecordingEntry(entry)
        for (const [name, text] of await readArtifacts(keeping.archive, id)) copy.artifacts.put(name, text)
        const session = createAgentSession(seat, copy, forked, { ...keeping, archive, writer })
        await copy.save?.(true, [])
        return session
      }),
    async close() {
      try {
        await seat.closeConversation(shared)
      } finally {
        endedAt = await writer?.close()
      }
      return endedAt
    },
  })
}

function startRecording({ addRecordingEntry: note, calls }: SessionWriter, number: number): Journal {
  calls.startRun()
  return createRecordingJournal(String(number), note, calls)
}

const objectsNotArchivedWarning =
  "The runtime was given as an instance, so its objects are not kept with the session. Give a factory: runtime: () => jsRuntime({ … })."

/** Has a conversation written down: its events as they come, the rest when a run has ended. */
function archiveConversation(writer: SessionWriter, shared: Conversation): void {
  const { record } = shared
  shared.record = (event) => {
    record(event)
    writer.addEvent(event)
  }
  shared.save = async (ended, unheard) => {
    const current = headOf(shared)
    const head = { ...current, steered: [...current.steered, ...unheard] } as unknown as Json
    const artifacts = shared.artifacts.unsaved()
    if (ended) await writer.commitRunEnd({ head, artifacts, snapshot: await takeSnapshot(shared) })
    else await writer.commitCycle({ head, artifacts })
    shared.artifacts.removeSaved(artifacts)
  }
}

// A runtime that is gone keeps what was kept of it before; a shared one is its owner's to keep.
async function takeSnapshot({ runtime, ownsRuntime }: Conversation) {
  if (!ownsRuntime) return undefined
  try {
    return await runtime.snapshot?.()
  } catch {
    return undefined
  }
}
