import type { Run, Session } from "../core/agent.ts"
import { ConfigError, UnsupportedError } from "../core/errors.ts"
import { newId, type Prompt, userMessage } from "../core/message.ts"
import type { Turn } from "../core/serial-queue.ts"
import {
  type Archive,
  type ArchiveOptions,
  type ArchiveSource,
  openArchive,
  type StoredSession,
} from "../sessions/archive.ts"
import { cliHandleOf, type HandleParts, parseHandle } from "../sessions/handle.ts"
import { refuseForeignArchive } from "../sessions/handle-folder.ts"
import { createSession, sessionTrajectory } from "../sessions/session.ts"
import { createWriter, type SessionWriter, takeOver } from "../sessions/writer.ts"
import type { Candidate } from "./candidates.ts"
import { type CliRunOptions, type CliSession, observerOf } from "./cli-agent.ts"
import { noHandleYet, notFound, readHead } from "./cli-head.ts"
import { storedIn } from "./cli-session.ts"
import type { FallbackOptions } from "./fallback.ts"
import { type FallbackConversation, fallbackConversation } from "./fallback-conversation.ts"
import { type FallbackPlace, startFallbackRun } from "./fallback-run.ts"
import { keepBy, type Sessions, sessionsOf } from "./fallback-seats.ts"
import type { CliOptions } from "./options.ts"
import { followInFile } from "./trajectory-file.ts"

export interface FallbackSeats extends Pick<FallbackPlace, "name" | "candidates" | "failover" | "handoffChars"> {
  own: FallbackOptions
  changes: Partial<CliOptions>
  signal: AbortSignal | undefined
}

/** Opens a session with the first of several agents that can have it, or goes on with one, which is with whom it was. */
export async function openFallbackSession(seats: FallbackSeats, opening: ArchiveOptions): Promise<CliSession> {
  const parts = opening.resume === undefined ? undefined : parseHandle(opening.resume)
  const source = opening.archive ?? parts?.folder
  if (opening.archive === undefined && parts?.folder !== undefined) refuseForeignArchive(parts.folder, parts.id)
  const archive = source === undefined ? undefined : openArchive(source)
  let opened: Sessions | undefined
  try {
    const stored = archive && parts ? await storedIn(archive, parts.id) : undefined
    const earlier = parts && goingOn(parts, stored, archive)
    const first = earlier ? candidateOf(seats, earlier) : firstOf(seats)
    const writer = archive && stored ? await takeOver(archive, stored) : undefined
    const id = parts?.id ?? newId("s")
    const conversation = fallbackConversation({ events: stored?.events })
    const place = { ...seats, changes: { ...readHead(stored?.record.head)?.options, ...seats.changes } }
    opened = sessionsOf(place.changes)
    // What is wrong with the options is told here, and not by the first run.
    await opened.open(first, earlier && { resume: cliHandleOf({ ...earlier, id }) })
    if (earlier) conversation.committed = seats.candidates.indexOf(first)
    if (stored) conversation.warnings.push(...(await opened.restore(first, stored.snapshot)))
    const keeping = archive && source !== undefined ? { archive, source, writer } : undefined
    return sessionOn(place, conversation, opened, id, keeping)
  } catch (error) {
    await opened?.close()
    await archive?.close()
    throw error
  }
}

interface Keeping {
  archive: Archive
  source: ArchiveSource
  writer: SessionWriter | undefined
}

function sessionOn(
  seats: FallbackSeats,
  conversation: FallbackConversation,
  opened: Sessions,
  id: string,
  keeping: Keeping | undefined,
): CliSession {
  const { own, candidates, changes } = seats
  const archive = keeping?.archive
  const writer = keeping && (keeping.writer ?? createWriter(keeping.archive, id, seats.name))
  let completedAt: number | undefined
  const current = () => candidates[conversation.committed ?? -1] ?? opened.first()
  if (writer)
    keepBy(writer, conversation, changes, () => ({ parts: partsOf(current(), opened), ...opened.objects(current()) }))
  const { trajectoryPath: file } = own
  if (file !== undefined)
    followInFile(conversation, file, () => sessionTrajectory(id, conversation.events, completedAt))

  function start(prompt: Prompt, sent: CliRunOptions = {}, turn: Turn): Run {
    const { signal, from, onEvent = own.onEvent, logger = own.logger, ...changes } = sent
    if (from) throw new ConfigError("session.send: from cannot change within a session. Give it to agent.run().")
    const signals = [seats.signal, signal].filter((each) => each !== undefined)
    return startFallbackRun({
      ...seats,
      conversation,
      changes,
      prompt: userMessage(prompt).parts.filter((part) => part.type !== "summary"),
      signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
      onEvent: observerOf({ onEvent, logger }),
      async turn(signal) {
        await turn(signal)
        await writer?.claim()
      },
      async seat(candidate, runtime) {
        const session = opened.of(candidate) ?? (await opened.open(candidate, candidate.on(runtime)))
        return { send: (parts, more) => session.send(parts, more) }
      },
    })
  }

  return createSession<CliRunOptions>({
    id,
    archive: archive && { folder: archive.folder, directory: archive.directory(id) },
    handle() {
      if (conversation.events.length === 0) throw noHandleYet(id)
      return cliHandleOf({ ...partsOf(current(), opened), id, folder: archive?.folder })
    },
    runtime: opened.objects(current()).runtime,
    start,
    messages: () => conversation.messages,
    events: () => conversation.events,
    fork: () => forked(seats, conversation, opened, current(), keeping?.source),
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
async function forked(
  seats: FallbackSeats,
  { events, committed, files }: FallbackConversation,
  opened: Sessions,
  current: Candidate | undefined,
  source: ArchiveSource | undefined,
): Promise<CliSession> {
  const session = opened.of(current)
  if (!current || !session?.fork) throw new UnsupportedError(`fork: ${current?.name} cannot fork a conversation.`)
  const copies = sessionsOf(seats.changes)
  copies.take(current, await session.fork())
  const copy = fallbackConversation({ events })
  copy.committed = committed
  for (const file of files) copy.files.add(file)
  const id = newId("s")
  if (source === undefined) return sessionOn(seats, copy, copies, id, undefined)
  const archive = openArchive(source)
  const writer = createWriter(archive, id, seats.name)
  for (const event of events) writer.record(event)
  const made = sessionOn(seats, copy, copies, id, { archive, source, writer })
  await copy.saved?.(true)
  return made
}

/** What a session goes on with, by its handle and what is stored of it. */
function goingOn(parts: HandleParts, stored: StoredSession | undefined, archive: Archive | undefined): HandleParts {
  const head = readHead(stored?.record.head)
  const key = head?.key ?? parts.key
  if (key === undefined) throw notFound(parts.id, archive?.name)
  return { id: parts.id, provider: head?.provider ?? parts.provider, key, cwd: head?.cwd ?? parts.cwd }
}

function candidateOf({ candidates }: FallbackSeats, { id, provider }: HandleParts): Candidate {
  const found = candidates.find((candidate) => candidate.name === provider)
  if (found) return found
  const names = candidates.map(({ name }) => name).join(", ")
  throw new ConfigError(
    `Session "${id}" is one with ${provider}, and here there are ${names}. Add ${provider} to them.`,
  )
}

function firstOf({ candidates }: FallbackSeats): Candidate {
  const found = candidates.find((each) => each.isInstalled()) ?? candidates[0]
  if (found) return found
  throw new ConfigError("fallback: there is no agent. Give at least one.")
}

/** What finds the conversation with a candidate again. */
function partsOf(candidate: Candidate | undefined, opened: Sessions): Omit<HandleParts, "id"> {
  const session: Session | undefined = opened.of(candidate)
  const { provider = candidate?.name, key, cwd } = (session && handleParts(session)) ?? {}
  return { provider, key, cwd }
}

// One whose CLI has not named its conversation has no handle.
function handleParts(session: Session): HandleParts | undefined {
  try {
    return parseHandle(session.handle)
  } catch {
    return undefined
  }
}
