import type { Run, Session } from "../../core/agent.ts"
import { ConfigError, UnsupportedError } from "../../core/errors.ts"
import { newId, type Prompt, userMessage } from "../../core/message.ts"
import type { WaitForTurn } from "../../core/run-queue.ts"
import { refuseForeignArchive } from "../../sessions/handle-trust.ts"
import { createSession, sessionTrajectory } from "../../sessions/session.ts"
import {
  type Archive,
  type ArchiveOptions,
  type ArchiveSource,
  openArchive,
  type StoredSession,
} from "../../sessions/session-archive.ts"
import { cliSessionHandle, parseSessionHandle, type SessionHandleParts } from "../../sessions/session-handle.ts"
import { createSessionWriter, type SessionWriter, takeOverSession } from "../../sessions/session-writer.ts"
import { type CliRunOptions, type CliSession, eventObserver } from "../cli-agent.ts"
import { findStoredSession } from "../cli-session.ts"
import { noHandleYetError, readSessionMetadata, sessionNotFoundError } from "../cli-session-metadata.ts"
import type { CliOptions } from "../options.ts"
import { mirrorTrajectoryToFile } from "../trajectory-file.ts"
import { archiveFallbackConversation, type CandidateSessions, createCandidateSessions } from "./candidate-sessions.ts"
import type { FallbackOptions } from "./fallback.ts"
import type { Candidate } from "./fallback-candidates.ts"
import { createFallbackConversation, type FallbackConversation } from "./fallback-conversation.ts"
import { type FallbackRunSetup, startFallbackRun } from "./fallback-run.ts"

export interface FallbackSessionSetup
  extends Pick<FallbackRunSetup, "name" | "candidates" | "failover" | "handoffChars"> {
  own: FallbackOptions
  changes: Partial<CliOptions>
  signal: AbortSignal | undefined
}

/** Opens a session with the first of several agents that can have it, or goes on with one, which is with whom it was.
 *  */
export async function openFallbackSession(seats: FallbackSessionSetup, opening: ArchiveOptions): Promise<CliSession> {
  const parts = opening.resume === undefined ? undefined : parseSessionHandle(opening.resume)
  const source = opening.archive ?? parts?.folder
  if (opening.archive === undefined && parts?.folder !== undefined) refuseForeignArchive(parts.folder, parts.id)
  const archive = source === undefined ? undefined : openArchive(source)
  let opened: CandidateSessions | undefined
  try {
    const stored = archive && parts ? await findStoredSession(archive, parts.id) : undefined
    const earlier = parts && resumePartsOf(parts, stored, archive)
    const first = earlier ? requireCandidate(seats, earlier) : firstInstalled(seats)
    const writer = archive && stored ? await takeOverSession(archive, stored) : undefined
    const id = parts?.id ?? newId("s")
    const conversation = createFallbackConversation({ events: stored?.events })
    const place = { ...seats, changes: { ...readSessionMetadata(stored?.record.head)?.options, ...seats.changes } }
    opened = createCandidateSessions(place.changes)
    // What is wrong with the options is told here, and not by the first run.
    await opened.open(first, earlier && { resume: cliSessionHandle({ ...earlier, id }) })
    if (earlier) conversation.committedIndex = seats.candidates.indexOf(first)
    if (stored) conversation.warnings.push(...(await opened.restore(first, stored.snapshot)))
    const keeping = archive && source !== undefined ? { archive, source, writer } : undefined
    return createFallbackSession(place, conversation, opened, id, keeping)
  } catch (error) {
    await opened?.close()
    await archive?.close()
    throw error
  }
}

interface OpenFallbackArchive {
  archive: Archive
  source: ArchiveSource
  writer: SessionWriter | undefined
}

function createFallbackSession(
  seats: FallbackSessionSetup,
  conversation: FallbackConversation,
  opened: CandidateSessions,
  id: string,
  keeping: OpenFallbackArchive | undefined,
): CliSession {
  const { own, candidates, changes } = seats
  const archive = keeping?.archive
  const writer = keeping && (keeping.writer ?? createSessionWriter(keeping.archive, id, seats.name))
  let completedAt: number | undefined
  const current = () => candidates[conversation.committedIndex ?? -1] ?? opened.first()
  if (writer)
    archiveFallbackConversation(writer, conversation, changes, () => ({
      parts: candidateHandleParts(current(), opened),
      ...opened.runtimeOf(current()),
    }))
  const { trajectoryPath: file } = own
  if (file !== undefined)
    mirrorTrajectoryToFile(conversation, file, () => sessionTrajectory(id, conversation.events, completedAt))

  function start(prompt: Prompt, sent: CliRunOptions = {}, turn: WaitForTurn): Run {
    const { signal, from, onEvent = own.onEvent, logger = own.logger, ...changes } = sent
    if (from) throw new ConfigError("session.send: from cannot change within a session. Give it to agent.run().")
    const signals = [seats.signal, signal].filter((each) => each !== undefined)
    return startFallbackRun({
      ...seats,
      conversation,
      changes,
      prompt: userMessage(prompt).parts.filter((part) => part.type !== "summary"),
      signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
      onEvent: eventObserver({ onEvent, logger }),
      async waitForTurn(signal) {
        await turn(signal)
        await writer?.claim()
      },
      async openCandidate(candidate, runtime) {
        const session = opened.get(candidate) ?? (await opened.open(candidate, candidate.runtimeOptions(runtime)))
        return { send: (parts, more) => session.send(parts, more) }
      },
    })
  }

  return createSession<CliRunOptions>({
    id,
    archive: archive && { folder: archive.folder, directory: archive.directory(id) },
    handle() {
      if (conversation.events.length === 0) throw noHandleYetError(id)
      return cliSessionHandle({ ...candidateHandleParts(current(), opened), id, folder: archive?.folder })
    },
    runtime: opened.runtimeOf(current()).runtime,
    start,
    messages: () => conversation.messages,
    events: () => conversation.events,
    fork: () => forkFallbackSession(seats, conversation, opened, current(), keeping?.source),
    async close() {
      try {
        await opened.close()
      } finally {
        completedAt = (await writer?.close()) ?? Date.now()
      }
      return completedAt
    },
  })
}

/** Another session that goes on from here, with the same agent; this one stays as it is. */
async function forkFallbackSession(
  seats: FallbackSessionSetup,
  { events, committedIndex: committed, files }: FallbackConversation,
  opened: CandidateSessions,
  current: Candidate | undefined,
  source: ArchiveSource | undefined,
): Promise<CliSession> {
  const session = opened.get(current)
  if (!current || !session?.fork) throw new UnsupportedError(`fork: ${current?.name} cannot fork a conversation.`)
  const copies = createCandidateSessions(seats.changes)
  copies.add(current, await session.fork())
  const copy = createFallbackConversation({ events })
  copy.committedIndex = committed
  for (const file of files) copy.files.add(file)
  const id = newId("s")
  if (source === undefined) return createFallbackSession(seats, copy, copies, id, undefined)
  const archive = openArchive(source)
  const writer = createSessionWriter(archive, id, seats.name)
  for (const event of events) writer.addEvent(event)
  const made = createFallbackSession(seats, copy, copies, id, { archive, source, writer })
  await copy.save?.(true)
  return made
}

/** What a session goes on with, by its handle and what is stored of it. */
function resumePartsOf(
  parts: SessionHandleParts,
  stored: StoredSession | undefined,
  archive: Archive | undefined,
): SessionHandleParts {
  const head = readSessionMetadata(stored?.record.head)
  const key = head?.key ?? parts.key
  if (key === undefined) throw sessionNotFoundError(parts.id, archive?.name)
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

/** What finds the conversation with a candidate again. */
function candidateHandleParts(
  candidate: Candidate | undefined,
  opened: CandidateSessions,
): Omit<SessionHandleParts, "id"> {
  const session: Session | undefined = opened.get(candidate)
  const { provider = candidate?.name, key, cwd } = (session && handlePartsOf(session)) ?? {}
  return { provider, key, cwd }
}

// One whose CLI has not named its conversation has no handle.
function handlePartsOf(session: Session): SessionHandleParts | undefined {
  try {
    return parseSessionHandle(session.handle)
  } catch {
    return undefined
  }
}
