// Opens, resumes and forks sessions with a fallback, archived as one session whichever candidate works.
import { combineSignals } from "../../core/abort.ts"
import type { Run, Session } from "../../core/agent.ts"
import { attempt } from "../../core/attempt.ts"
import { ConfigError, UnsupportedError } from "../../core/errors.ts"
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
} from "../cli-session-metadata.ts"
import type { CliOptions } from "../options.ts"
import { mirrorTrajectoryToFile } from "../trajectory-file.ts"
import { type CandidateSessions, createCandidateSessions } from "./candidate-sessions.ts"
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
    if (parts && !earlier && location.givenId === undefined) throw sessionNotFoundError(id, archive?.name)
    const first = earlier ? requireCandidate(setup, earlier) : firstInstalled(setup)
    const writer = archive && stored ? await takeOverSession(archive, stored) : undefined
    const conversation = createFallbackConversation({ events: stored?.events })
    const changes = { ...readSessionMetadata(stored?.record.head)?.options, ...setup.changes }
    const sessions = createCandidateSessions(changes)
    try {
      // Opened now, so that wrong options are reported here and not by the first run.
      await sessions.open(first, earlier && { resume: cliSessionHandle({ ...earlier, id }) })
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
      const { provider = "", key, cwd } = candidateHandleParts(current(), sessions)
      const { model, reasoning, instructions } = setup.changes
      const options = { model, reasoning, instructions, systemPrompt: undefined }
      const head = sessionMetadata({ provider, key, cwd, approved: [], options })
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
      if (conversation.events.length === 0) throw noHandleYetError(id)
      return cliSessionHandle({ ...candidateHandleParts(current(), sessions), id, folder: storage?.archive.folder })
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
  if (!current || !session?.fork) throw new UnsupportedError(`fork: ${current?.name} cannot fork a conversation.`)
  const copies = createCandidateSessions(setup.changes)
  copies.add(current, await session.fork())
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
function resumePartsOf(parts: SessionHandleParts, stored: StoredSession | undefined): SessionHandleParts | undefined {
  const head = readSessionMetadata(stored?.record.head)
  const key = head?.key ?? parts.key
  if (key === undefined) return undefined
  return { id: parts.id, provider: head?.provider ?? parts.provider, key, cwd: head?.cwd ?? parts.cwd }
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
): Omit<SessionHandleParts, "id"> {
  const session: Session | undefined = sessions.get(candidate)
  const { provider = candidate?.name, key, cwd } = (session && handlePartsOf(session)) ?? {}
  return { provider, key, cwd }
}

// A session has no handle until its CLI has named the conversation.
function handlePartsOf(session: Session): SessionHandleParts | undefined {
  return attempt(() => parseSessionHandle(session.handle))
}
