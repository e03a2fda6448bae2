import type { Run, Session } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import { newId, type Prompt, userMessage } from "../core/message.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { type Archive, type ArchiveOptions, openArchive, type StoredSession } from "../sessions/archive.ts"
import { cliHandleOf, type HandleParts, parseHandle } from "../sessions/handle.ts"
import { createSession, sessionTrajectory } from "../sessions/session.ts"
import { createWriter, type SessionWriter, takeOver } from "../sessions/writer.ts"
import type { Candidate } from "./candidates.ts"
import { type CliRunOptions, type CliSession, observerOf } from "./cli-agent.ts"
import { notFound, readHead } from "./cli-head.ts"
import { snapshotOf, storedIn } from "./cli-session.ts"
import type { FallbackOptions } from "./fallback.ts"
import { type FallbackConversation, fallbackConversation } from "./fallback-conversation.ts"
import { type FallbackPlace, startFallbackRun } from "./fallback-run.ts"
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
  const archive = source === undefined ? undefined : openArchive(source)
  try {
    const stored = archive && parts ? await storedIn(archive, parts.id) : undefined
    const earlier = parts && goingOn(parts, stored, archive)
    const writer = archive && stored ? await takeOver(archive, stored) : undefined
    const id = parts?.id ?? newId("s")
    const conversation = fallbackConversation(stored?.events)
    const opened = sessionsOf(seats)
    const first = earlier ? candidateOf(seats, earlier) : undefined
    if (earlier && first) {
      conversation.committed = seats.candidates.indexOf(first)
      const session = await opened.open(first, { resume: cliHandleOf({ ...earlier, id }) })
      await restore(first, session, stored, conversation)
    }
    const installed = first ?? seats.candidates.find((each) => each.isInstalled()) ?? seats.candidates[0]
    // What is wrong with the options is told here, and not by the first run.
    if (installed && !first) await opened.open(installed)
    return sessionOn(seats, conversation, opened, {
      id,
      archive,
      writer: archive && (writer ?? createWriter(archive, id, seats.name)),
    })
  } catch (error) {
    await archive?.close()
    throw error
  }
}

interface Place {
  id: string
  archive: Archive | undefined
  writer: SessionWriter | undefined
}

function sessionOn(
  seats: FallbackSeats,
  conversation: FallbackConversation,
  opened: Sessions,
  { id, archive, writer }: Place,
): CliSession {
  const { own, candidates } = seats
  let completedAt: number | undefined
  const current = () => candidates[conversation.committed ?? -1] ?? opened.first()
  const partsNow = (): Partial<HandleParts> => {
    const handle = opened.of(current())?.handle
    const { id: _, folder: __, ...parts } = handle === undefined ? { id } : parseHandle(handle)
    return { provider: current()?.name, ...parts }
  }
  if (writer)
    keepBy(writer, conversation, () => ({
      parts: partsNow(),
      runtime: runtimeOf(opened.of(current())),
      candidate: current(),
    }))
  const { trajectoryPath: file } = own
  if (file !== undefined)
    followInFile(conversation, file, () => sessionTrajectory(id, conversation.events, completedAt))

  return createSession<CliRunOptions>({
    id,
    archive: archive && { folder: archive.folder, directory: archive.directory(id) },
    handle: () => cliHandleOf({ ...partsNow(), id, folder: archive?.folder }),
    runtime: opened.of(current())?.runtime,
    start: (prompt, sent, turn) => start(prompt, sent, turn),
    messages: () => conversation.messages,
    events: () => conversation.events,
    async close() {
      try {
        await opened.close()
      } finally {
        completedAt = (await writer?.close()) ?? Date.now()
      }
      return completedAt
    },
  })

  function start(prompt: Prompt, sent: CliRunOptions = {}, turn: Promise<unknown>): Run {
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
      async turn() {
        await turn
        await writer?.claim()
      },
      async seat(candidate, runtime) {
        const session = opened.of(candidate) ?? (await opened.open(candidate, candidate.on(runtime)))
        return { send: (parts, more) => session.send(parts, more) }
      },
    })
  }
}

/** The sessions with candidates, of which none is archived by itself. All stay open until the end: one may work on what another has. */
interface Sessions {
  of(candidate: Candidate | undefined): Session | undefined
  /** The one that was opened first. */
  first(): Candidate | undefined
  open(candidate: Candidate, more?: { resume?: string; runtime?: CliOptions["runtime"] }): Promise<Session>
  close(): Promise<void>
}

function sessionsOf({ changes }: FallbackSeats): Sessions {
  const sessions = new Map<Candidate, Session>()
  return {
    of: (candidate) => candidate && sessions.get(candidate),
    first: () => sessions.keys().next().value,
    async open(candidate, more = {}) {
      const session = await candidate.agent.session({ ...candidate.changes(changes), ...more })
      sessions.set(candidate, session)
      return session
    },
    async close() {
      for (const session of [...sessions.values()].toReversed()) await session.close()
    },
  }
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

function keepBy(
  writer: SessionWriter,
  conversation: FallbackConversation,
  now: () => { parts: Partial<HandleParts>; runtime: Runtime | undefined; candidate: Candidate | undefined },
): void {
  const { record } = conversation
  conversation.record = (event) => {
    record(event)
    writer.record(event)
  }
  conversation.saved = async (ended) => {
    if (!ended) return await writer.saved()
    const { parts, runtime, candidate } = now()
    const { provider = "", key, cwd } = parts
    const head = {
      version: 1,
      provider,
      approved: [],
      options: {},
      ...(key !== undefined && { key }),
      ...(cwd !== undefined && { cwd }),
    }
    await writer.ended({ head, snapshot: await snapshotOf({ runtime, ownsRuntime: candidate?.ownsRuntime ?? false }) })
  }
}

async function restore(
  candidate: Candidate,
  session: Session,
  stored: StoredSession | undefined,
  { warnings }: FallbackConversation,
): Promise<void> {
  if (!stored?.snapshot || !candidate.ownsRuntime) return
  const lost = await runtimeOf(session)?.restore?.(stored.snapshot)
  for (const { name, reason } of lost ?? []) warnings.push(`"${name}" was not brought back: ${reason}.`)
}

function runtimeOf(session: Session | undefined): Runtime | undefined {
  const runtime = session?.runtime
  // Whoever can do this is one.
  return runtime && "execute" in runtime ? (runtime as Runtime) : undefined
}
