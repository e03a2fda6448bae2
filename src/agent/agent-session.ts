// Sessions of agents made by createAgent: opening, resuming, forking, and archiving their conversation.
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

export interface AgentSessionDriver {
  config: AgentConfig
  openConversation(): Promise<Conversation>
  closeConversation(conversation: Conversation): Promise<void>
  /** Starts a run. `enter` returns the conversation when it is the run's turn. */
  startRun(
    prompt: Prompt,
    sent: CodeRunOptions | undefined,
    turn: WaitForTurn,
    enter: (run: RunContext) => Promise<Conversation>,
  ): Run
}

/** Opens a new or archived session, and archives it if there is an archive. `journal` returns the journal of each run
 *  by its number; a replay provides it. */
export async function openSession(
  driver: AgentSessionDriver,
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
      ? await restoreStoredSession(stored, driver.config, { isNamedByHandle, keepPrompt })
      : await driver.openConversation()
    const target = archive && source !== undefined ? { archive, source, writer, recording } : undefined
    return createAgentSession(driver, shared, id ?? newId("s"), target, journal)
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
  /** Whether only the handle names the archive. Then `always` approvals stored there are ignored. */
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
  const storedConversation = { events, head, snapshot, covered: record.snapshot?.at }
  const shared = await restoreConversation(storedConversation, config, { keepPrompt })
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
  driver: AgentSessionDriver,
  shared: Conversation,
  id: string,
  target: ArchiveTarget | undefined,
  journal?: JournalForRun,
): SessionOf<CodeRunOptions> {
  const { runtime } = shared
  const writer = target && (target.writer ?? createSessionWriter(target.archive, id, driver.config.name))
  const isOwn = createOwnEventFilter()
  let runs = shared.events.filter((event) => isOwn(event) && event.type === "run-start").length
  let endedAt: number | undefined
  if (writer) archiveConversation(writer, shared)
  if (target) shared.artifacts.setReader(sessionArtifactReader(target.archive, id))
  if (writer && !shared.ownsRuntime) shared.warnings.push(objectsNotArchivedWarning)

  return createSession<CodeRunOptions>({
    id,
    archive: target && { folder: target.archive.folder, directory: target.archive.directory(id) },
    runtime,
    start: (prompt, sent, turn) =>
      driver.startRun(prompt, sent, turn, async (run) => {
        await writer?.claim()
        const number = runs++
        if (journal) setJournal(run, journal(number))
        // Do not replace the journal of a parent run: a durable parent must not repeat calls.
        else if (writer && target?.recording && !hasJournaledParent(run))
          setJournal(run, startRecording(writer, number))
        return shared
      }),
    messages: () => shared.messages,
    events: () => shared.events,
    fork:
      runtime.fork &&
      (async () => {
        const copy = await copyConversation(shared)
        if (!target) return createAgentSession(driver, copy, newId("s"), undefined)
        const [forked, archive] = [newId("s"), openArchive(target.source)]
        const writer = createSessionWriter(archive, forked, driver.config.name)
        for (const event of copy.events) writer.addEvent(event)
        for (const entry of await readRecording(target.archive, id)) writer.addRecordingEntry(entry)
        for (const [name, text] of await readArtifacts(target.archive, id)) copy.artifacts.put(name, text)
        const session = createAgentSession(driver, copy, forked, { ...target, archive, writer })
        await copy.save?.(true, [])
        return session
      }),
    async close() {
      try {
        await driver.closeConversation(shared)
      } finally {
        endedAt = await writer?.close()
      }
      return endedAt
    },
  })
}

function startRecording({ addRecordingEntry, calls }: SessionWriter, number: number): Journal {
  calls.startRun()
  return createRecordingJournal(String(number), addRecordingEntry, calls)
}

const objectsNotArchivedWarning =
  "The runtime was given as an instance, so its objects are not kept with the session. Give a factory: runtime: () => jsRuntime({ … })."

/** Writes a conversation to the archive: events as they arrive, the rest after each cycle and at the end of a run. */
function archiveConversation(writer: SessionWriter, shared: Conversation): void {
  const { record } = shared
  shared.record = (event) => {
    record(event)
    writer.addEvent(event)
  }
  shared.save = async (ended, undeliveredSteers) => {
    const current = headOf(shared)
    const head = { ...current, steered: [...current.steered, ...undeliveredSteers] } as unknown as Json
    const artifacts = shared.artifacts.unsaved()
    if (ended) await writer.commitRunEnd({ head, artifacts, snapshot: await takeSnapshot(shared) })
    else await writer.commitCycle({ head, artifacts })
    shared.artifacts.removeSaved(artifacts)
  }
}

// No snapshot of a shared runtime, which belongs to its owner, nor of one that is gone: the last one then remains.
async function takeSnapshot({ runtime, ownsRuntime }: Conversation) {
  if (!ownsRuntime) return undefined
  try {
    return await runtime.snapshot?.()
  } catch {
    return undefined
  }
}
