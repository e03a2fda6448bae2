// Opens, resumes and forks sessions with a fallback, archived as one session whichever candidate works.
import { combineSignals } from "../../core/abort.ts"
import type { Run, Session } from "../../core/agent.ts"
import { attempt } from "../../core/attempt.ts"
import { ConfigError } from "../../core/errors.ts"
import { newId, type Prompt, userMessage } from "../../core/message.ts"
import type { WaitForStart } from "../../core/run-queue.ts"
import { createSession } from "../../sessions/session.ts"
import type { ArchiveOptions, StoredSession } from "../../sessions/session-archive.ts"
import { cliSessionHandle, parseSessionHandle, type SessionHandleParts } from "../../sessions/session-handle.ts"
import {
  createSessionStorage,
  findStoredSession,
  forkSessionStorage,
  identifySession,
  locateSession,
  restoreOwnRuntime,
  type SessionStorage,
  storeConversation,
  trackOwnRuntime,
  withSessionArchive,
} from "../../sessions/session-storage.ts"
import { takeOverSession } from "../../sessions/session-writer.ts"
import { type CliRunOptions, type CliSession, eventObserver } from "../cli-agent.ts"
import {
  noHandleYetError,
  readSessionMetadata,
  sessionMetadata,
  sessionNotFoundError,
  unsentForkOfSession,
} from "../cli-session-metadata.ts"
import type { CliOptions } from "../options.ts"
import { mirrorTrajectoryToFile } from "../trajectory-file.ts"
import { type CandidateSessions, createCandidateSessions, forkOf } from "./candidate-sessions.ts"
import type { FallbackOptions } from "./fallback.ts"
import type { Candidate } from "./fallback-candidates.ts"
import { createFallbackConversation, type FallbackConversation } from "./fallback-conversation.ts"
import { type FallbackRunSetup, startFallbackRun } from "./fallback-run.ts"

export interface FallbackSessionSetup
  extends Pick<FallbackRunSetup, "name" | "candidates" | "failover" | "maxHandoffChars"> {
  own: FallbackOptions
  changes: Partial<CliOptions>
  signal: AbortSignal | undefined
}

/** Opens a session with the first installed candidate, or resumes one with the candidate that had it. */
export async function openFallbackSession(setup: FallbackSessionSetup, opening: ArchiveOptions): Promise<CliSession> {
  const location = locateSession(opening, () => undefined)
  const { source } = location
  return await withSessionArchive(source, async (archive) => {
    const { id, parts } = await identifySession(archive, location, setup.name)
    const stored = archive && parts ? await findStoredSession(archive, parts.id) : undefined
    const earlier = parts && resumePartsOf(parts, stored)
    if (parts && !earlier && !stored) throw sessionNotFoundError(id, archive?.name)
    const first = earlier ? requireCandidate(setup, earlier) : firstInstalled(setup)
    const writer = archive && stored ? await takeOverSession(archive, stored) : undefined
    const conversation = createFallbackConversation({ events: stored?.events })
    const changes = { ...readSessionMetadata(stored?.record.head)?.options, ...setup.changes }
    const sessions = createCandidateSessions(changes)
    try {
      // Opened now, so that wrong options are reported here and not by the first run.
      const resume = earlier && cliSessionHandle({ ...earlier, id })
      if (resume !== undefined && earlier?.isUnsentFork) await sessions.openFork(first, resume)
      else await sessions.open(first, resume === undefined ? {} : { resume })
      if (!earlier && conversation.messages.length > 0)
        conversation.handoffFrom = readSessionMetadata(stored?.record.head)?.provider ?? first.name
      if (earlier) conversation.committedIndex = setup.candidates.indexOf(first)
      if (stored) conversation.warnings.push(...(await restoreOwnRuntime(sessions.runtimeOf(first), stored.snapshot)))
      if (archive) await trackOwnRuntime(sessions.runtimeOf(first))
      const storage = createSessionStorage(archive, source, { id, agent: setup.name, writer })
      return createFallbackSession({ ...setup, changes }, conversation, sessions, id, storage)
    } catch (error) {
      await sessions.close()
      throw error
    }
  })
}

function createFallbackSession(
  setup: FallbackSessionSetup,
  conversation: FallbackConversation,
  sessions: CandidateSessions,
  id: string,
  storage: SessionStorage | undefined,
): CliSession {
  const { own, candidates } = setup
  const current = () => candidates[conversation.committedIndex ?? -1] ?? sessions.first()
  if (storage) {
    storeConversation(storage.writer, conversation, () => {
      const { provider = "", key, cwd, forkOf } = candidateHandleParts(current(), sessions)
      const { model, reasoning, instructions } = setup.changes
      const options = { model, reasoning, instructions, systemPrompt: undefined }
      const head = sessionMetadata({ provider, key, forkOf, cwd, approved: [], options })
      return { head, ...sessions.runtimeOf(current()) }
    })
  }

  function start(prompt: Prompt, sent: CliRunOptions = {}, waitForStart: WaitForStart): Run {
    const { signal, from, onEvent = own.onEvent, logger = own.logger, ...changes } = sent
    if (from) throw new ConfigError("session.send: from cannot change within a session. Give it to agent.run().")
    return startFallbackRun({
      ...setup,
      conversation,
      session: id,
      changes,
      prompt: userMessage(prompt).parts.filter((part) => part.type !== "summary"),
      signal: combineSignals(setup.signal, signal),
      onEvent: eventObserver({ onEvent, logger }),
      async waitForStart(signal) {
        await waitForStart(signal)
        await storage?.writer.claim()
      },
      async openCandidate(candidate, runtime) {
        const session = sessions.get(candidate) ?? (await sessions.open(candidate, candidate.runtimeOptions(runtime)))
        return { send: (parts, more) => session.send(parts, more) }
      },
    })
  }

  const created = createSession<CliRunOptions>({
    id,
    storage,
    handle() {
      const { provider, key, cwd, forkOf } = candidateHandleParts(current(), sessions)
      const isUnknown = conversation.events.length === 0 || (forkOf !== undefined && !storage)
      if (isUnknown) throw noHandleYetError(id)
      return cliSessionHandle({ id, provider, key, cwd, folder: storage?.archive.folder })
    },
    runtime: sessions.runtimeOf(current()).runtime,
    start,
    messages: () => conversation.messages,
    events: () => conversation.events,
    fork: () => forkFallbackSession(setup, conversation, sessions, current(), storage),
    close: sessions.close,
  })
  if (own.trajectoryPath !== undefined) mirrorTrajectoryToFile(conversation, own.trajectoryPath, created.trajectory)
  return created
}

/** Creates a session with the same candidate that continues from here; this one stays unchanged. */
async function forkFallbackSession(
  setup: FallbackSessionSetup,
  { events, committedIndex, files }: FallbackConversation,
  sessions: CandidateSessions,
  current: Candidate | undefined,
  storage: SessionStorage | undefined,
): Promise<CliSession> {
  const session = sessions.get(current)
  const copied = await forkOf(current, session)
  const copies = createCandidateSessions(setup.changes)
  if (current) copies.add(current, copied)
  const copy = createFallbackConversation({ events })
  copy.committedIndex = committedIndex
  for (const file of files) copy.files.add(file)
  const id = newId("s")
  const forked = forkSessionStorage(storage, { id, agent: setup.name, events })
  const created = createFallbackSession(setup, copy, copies, id, forked)
  if (forked) await copy.save?.(true)
  return created
}

/** The provider, key and folder to resume with: the stored ones, else those of the handle. Undefined if no CLI has
 *  named the conversation. */
function resumePartsOf(parts: SessionHandleParts, stored: StoredSession | undefined): ResumeParts | undefined {
  const head = readSessionMetadata(stored?.record.head)
  const ownKey = head?.key ?? parts.key
  const key = ownKey ?? head?.forkOf
  if (key === undefined) return undefined
  const [provider, cwd] = [head?.provider ?? parts.provider, head?.cwd ?? parts.cwd]
  return { id: parts.id, provider, key, cwd, isUnsentFork: ownKey === undefined }
}

interface ResumeParts extends SessionHandleParts {
  /** True if the key is that of the conversation to copy. */
  isUnsentFork: boolean
}

function requireCandidate({ candidates }: FallbackSessionSetup, { id, provider }: SessionHandleParts): Candidate {
  const found = candidates.find((candidate) => candidate.name === provider)
  if (found) return found
  const names = candidates.map(({ name }) => name).join(", ")
  throw new ConfigError(
    `Session "${id}" is one with ${provider}, and here there are ${names}. Add ${provider} to them.`,
  )
}

function firstInstalled({ candidates }: FallbackSessionSetup): Candidate {
  const found = candidates.find((each) => each.isInstalled()) ?? candidates[0]
  if (found) return found
  throw new ConfigError("fallback: there is no agent. Give at least one.")
}

/** The handle parts by which the conversation with a candidate can be resumed. */
function candidateHandleParts(
  candidate: Candidate | undefined,
  sessions: CandidateSessions,
): Omit<SessionHandleParts, "id"> & { forkOf?: string | undefined } {
  const session: Session | undefined = sessions.get(candidate)
  const fork = session && unsentForkOfSession.get(session)?.()
  const { provider = candidate?.name, key, cwd = fork?.cwd } = (session && handlePartsOf(session)) ?? {}
  return { provider, key, cwd, forkOf: fork?.forkOf }
}

// A session has no handle until its CLI has named the conversation.
function handlePartsOf(session: Session): SessionHandleParts | undefined {
  return attempt(() => parseSessionHandle(session.handle))
}
