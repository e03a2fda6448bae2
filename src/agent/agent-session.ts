// Sessions of agents made by createAgent: opening, resuming, forking, and archiving their conversation.
import { hasJournaledParent, type Journal, setJournal } from "../actions/journal-contract.ts"
import type { Run, SessionBudget } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import { asJson } from "../core/json.ts"
import { newId, type Prompt } from "../core/message.ts"
import type { RunContext } from "../core/run-context.ts"
import type { WaitForStart } from "../core/run-queue.ts"
import { createOwnEventFilter } from "../core/trajectory.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { RuntimeContext } from "../runtime/typed-runtime.ts"
import { approvalsIgnoredMessage } from "../sessions/handle-trust.ts"
import { createRecordingJournal } from "../sessions/recording-journal.ts"
import { createSession, type SessionOf } from "../sessions/session.ts"
import type { ArchiveOptions, StoredSession } from "../sessions/session-archive.ts"
import { readArtifacts, readRecording, readSession, sessionArtifactReader } from "../sessions/session-archive.ts"
import type { SessionHandleParts } from "../sessions/session-handle.ts"
import {
  createSessionStorage,
  forkSessionStorage,
  identifySession,
  locateSession,
  type SessionStorage,
  snapshotOwnRuntime,
  storeEvents,
  trackOwnRuntime,
  withSessionArchive,
} from "../sessions/session-storage.ts"
import { type SessionWriter, takeOverSession } from "../sessions/session-writer.ts"
import { type AgentConfig, requirePrice } from "./agent-config.ts"
import { type CellSnapshots, createCellSnapshots } from "./conversation/cell-snapshots.ts"
import {
  copyConversation,
  headOf,
  type RestoreOptions,
  restoreConversation,
} from "./conversation/restore-conversation.ts"
import { readStoredHead } from "./conversation/stored-head.ts"
import type { Conversation } from "./conversation.ts"
import type { CodeRunOptions } from "./create-agent.ts"
import { createBudgetCounter, limitsFromBudget } from "./session-budget.ts"

export interface AgentSessionDriver {
  /** Identifies the agent. */
  agent: object
  config: AgentConfig
  openConversation(session: string): Promise<Conversation>
  /** What the runtime factory receives if the session is restored. */
  runtimeContext(session: string): RuntimeContext
  closeConversation(conversation: Conversation): Promise<void>
  /** Starts a run. `enter` returns the conversation when the run may start. */
  startRun(
    prompt: Prompt,
    sent: CodeRunOptions | undefined,
    waitForStart: WaitForStart,
    enter: (run: RunContext) => Promise<Conversation>,
  ): Run
}

/** Opens a new or archived session, and archives it if there is an archive. `journal` returns the journal of each run
 *  by its number; a replay provides it. */
export async function openSession(
  driver: AgentSessionDriver,
  options: ArchiveOptions & { budget?: SessionBudget | undefined; keepSnapshots?: number | undefined },
  journal?: JournalForRun,
): Promise<SessionOf<CodeRunOptions>> {
  if (options.budget?.costUsd !== undefined) requirePrice(driver.config.model, "budget.costUsd")
  const location = locateSession(options, refuseCliSession)
  const { source, isNamedByHandle } = location
  if (location.parts && source === undefined) throw noArchiveError(location.parts.id)
  return await withSessionArchive(source, async (archive) => {
    const { id, parts } = await identifySession(archive, location, driver.config.name)
    const stored = archive && parts ? await readSession(archive, parts.id) : undefined
    const writer = archive && stored ? await takeOverSession(archive, stored) : undefined
    const { recording = true, keepPrompt, budget } = options
    const context = driver.runtimeContext(id)
    const shared = stored
      ? await restoreStoredSession(stored, driver.config, { isNamedByHandle, keepPrompt, context })
      : await driver.openConversation(id)
    const storage = createSessionStorage(archive, source, { id, agent: driver.config.name, writer })
    if (storage && driver.config.usesCode) await trackOwnRuntime(shared)
    const snapshots = createCellSnapshots(options.keepSnapshots)
    return createAgentSession(driver, shared, id, storage, { recording, journal, budget, snapshots })
  })
}

export type JournalForRun = (run: number) => Journal

function refuseCliSession({ id, provider }: SessionHandleParts): void {
  if (provider === undefined) return
  throw new ConfigError(
    `Session "${id}" is one with ${provider}. Resume it by an agent of that CLI: ${provider}({ … }).session({ resume }).`,
  )
}

function noArchiveError(id: string): ConfigError {
  return new ConfigError(
    `Session "${id}" cannot be found without its archive: agent.session({ resume, archive }). Only the handle of a ` +
      "session that is archived in a folder says where it is.",
  )
}

async function restoreStoredSession(
  { events, record, snapshot, calls }: StoredSession,
  config: AgentConfig,
  { isNamedByHandle, ...options }: RestoreOptions & { isNamedByHandle: boolean },
): Promise<Conversation> {
  const stored = readStoredHead(record.head, record.id)
  const head = stored && isNamedByHandle ? { ...stored, approved: [] } : stored
  const kept = { events, head, snapshot, covered: record.snapshot?.at }
  const shared = await restoreConversation(kept, config, options)
  const lastRun = events
    .filter(createOwnEventFilter())
    .findLast(({ type }) => type === "run-start" || type === "run-end")
  if (lastRun?.type === "run-end" && lastRun.error?.code === "interrupted") {
    shared.interrupted = { calls: calls?.map(({ call, ended }) => ({ call, outcome: ended ? "finished" : "unknown" })) }
  }
  if (stored && isNamedByHandle && stored.approved.length > 0)
    warn("archive", shared, approvalsIgnoredMessage(stored.approved))
  return shared
}

interface SessionSetup {
  recording: boolean
  journal?: JournalForRun | undefined
  budget?: SessionBudget | undefined
  snapshots: CellSnapshots
}

function createAgentSession(
  driver: AgentSessionDriver,
  shared: Conversation,
  id: string,
  storage: SessionStorage | undefined,
  { recording, journal, budget, snapshots }: SessionSetup,
): SessionOf<CodeRunOptions> {
  const { runtime } = shared
  const isOwn = createOwnEventFilter()
  snapshots.follow(shared)
  shared.session = id
  let runs = shared.events.filter((event) => isOwn(event) && event.type === "run-start").length
  const counter = budget && createBudgetCounter(budget, shared.events)
  if (storage) {
    archiveConversation(storage.writer, shared)
    shared.artifacts.setReader(sessionArtifactReader(storage.archive, id))
    if (!shared.ownsRuntime) warn("archive", shared, objectsNotArchivedText)
  }
  const sharing = shared.ownsRuntime ? undefined : otherSessionOf(driver.agent, runtime, id)
  if (sharing !== undefined) warn("shared-runtime", shared, sharedRuntimeText(sharing))

  return createSession<CodeRunOptions>({
    id,
    storage,
    runtime,
    start(prompt, sent, waitForStart) {
      const run = driver.startRun(prompt, sent, waitForStart, async (run) => {
        await storage?.writer.claim()
        shared.sessionLimits = counter && limitsFromBudget(counter.left())
        const number = runs++
        if (journal) setJournal(run, journal(number))
        // Do not replace the journal of a parent run: a durable parent must not repeat calls.
        else if (storage && recording && !hasJournaledParent(run))
          setJournal(run, startRecording(storage.writer, number))
        return shared
      })
      // Before the queue starts the next run, which waits for the same promise.
      if (counter) void run.settled.then(counter.add)
      return run
    },
    messages: () => shared.messages,
    events: () => shared.events,
    budgetLeft: () => counter?.left(),
    fork:
      runtime.fork &&
      (async ({ before }) => {
        const copy = await copyConversation(shared, before === undefined ? undefined : snapshots.pointBefore(before))
        const forkId = newId("s")
        const forked = forkSessionStorage(storage, { id: forkId, agent: driver.config.name, events: copy.events })
        const isWhole = before === undefined
        if (storage && forked) {
          // A recording of dropped cycles cannot be replayed.
          const entries = isWhole ? await readRecording(storage.archive, id) : []
          for (const entry of entries) forked.writer.addRecordingEntry(entry)
          for (const [name, text] of await readArtifacts(storage.archive, id)) copy.artifacts.put(name, text)
        }
        const session = createAgentSession(driver, copy, forkId, forked, {
          recording: recording && isWhole,
          budget,
          snapshots: snapshots.copy(),
        })
        await copy.save?.(true, [])
        return session
      }),
    close: () => driver.closeConversation(shared),
  })
}

function startRecording({ addRecordingEntry: note, calls }: SessionWriter, number: number): Journal {
  calls.startRun()
  return createRecordingJournal(String(number), note, calls)
}

function warn(code: Conversation["warnings"][number]["code"], { warnings }: Conversation, message: string): void {
  warnings.push({ code, message })
}

// The first session of each agent that was given a runtime instance.
const firstSessions = new WeakMap<Runtime, WeakMap<object, string>>()

/** Returns the earlier session of this agent that uses the same runtime instance, if any. */
function otherSessionOf(agent: object, runtime: Runtime, id: string): string | undefined {
  const byAgent = firstSessions.get(runtime) ?? new WeakMap<object, string>()
  firstSessions.set(runtime, byAgent)
  const first = byAgent.get(agent) ?? id
  byAgent.set(agent, first)
  return first === id ? undefined : first
}

const sharedRuntimeText = (other: string) =>
  `The runtime was given as an instance, so this session shares all names with session ${other}: each reads and changes ` +
  "the objects of the other. If they belong to different users, give a factory: runtime: () => jsRuntime({ … })."

const objectsNotArchivedText =
  "The runtime was given as an instance, so its objects are not kept with the session. Give a factory: runtime: () => jsRuntime({ … })."

/** Writes a conversation to the archive: events as they arrive, its state after each cycle, its objects at the end of a
 *  run. */
function archiveConversation(writer: SessionWriter, shared: Conversation): void {
  storeEvents(writer, shared)
  shared.save = async (ended, undeliveredSteers) => {
    const current = headOf(shared)
    const head = asJson({ ...current, steered: [...current.steered, ...undeliveredSteers] })
    const artifacts = shared.artifacts.unsaved()
    if (ended) await writer.commitRunEnd({ head, artifacts, snapshot: await snapshotOwnRuntime(shared) })
    else await writer.commitCycle({ head, artifacts })
    shared.artifacts.removeSaved(artifacts)
  }
}
