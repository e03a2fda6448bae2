import type { Run } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import { newId, type Prompt } from "../core/message.ts"
import type { WaitForTurn } from "../core/run-queue.ts"
import { approvalsIgnoredMessage, refuseForeignArchive, refuseForeignCwd } from "../sessions/handle-trust.ts"
import { createSession, sessionTrajectory } from "../sessions/session.ts"
import {
  type Archive,
  type ArchiveOptions,
  type ArchiveSource,
  openArchive,
  readSession,
  type StoredSession,
  sessionKeys,
} from "../sessions/session-archive.ts"
import { cliSessionHandle, parseSessionHandle } from "../sessions/session-handle.ts"
import { createSessionWriter, type SessionWriter, takeOverSession } from "../sessions/session-writer.ts"
import type { CliRunOptions, CliSession } from "./cli-agent.ts"
import { type CliConversation, createCliConversation } from "./cli-conversation.ts"
import {
  type CliSessionMetadata,
  noHandleYetError,
  readSessionMetadata,
  requireSafeKey,
  requireSameProvider,
  sessionMetadata,
  sessionNotFoundError,
} from "./cli-session-metadata.ts"
import { requireFolder } from "./find-program.ts"
import { type CliOptions, mergeOptions, resolveOptions } from "./options.ts"
import type { Provider } from "./provider.ts"
import { mirrorTrajectoryToFile } from "./trajectory-file.ts"

/** What a session with a CLI is made with. */
export interface CliSessionDriver {
  provider: Provider
  options: CliOptions
  start(
    prompt: Prompt,
    sent: CliRunOptions | undefined,
    place: { options: CliOptions; turn: WaitForTurn; conversation(): Promise<CliConversation> },
  ): Run
}

/** Opens a session with a CLI, new or one to go on with, and keeps it where there is an archive. What the options do
 *  not say is as it was in the session that goes on. */
export async function openCliSession(seat: CliSessionDriver, opening: ArchiveOptions): Promise<CliSession> {
  const { provider } = seat
  const parts = opening.resume === undefined ? undefined : parseSessionHandle(opening.resume)
  if (parts) requireSameProvider(provider, parts.id, parts.provider)
  const source = opening.archive ?? parts?.folder
  const isNamedByHandle = opening.archive === undefined && parts !== undefined
  if (isNamedByHandle && parts.folder !== undefined) refuseForeignArchive(parts.folder, parts.id)
  const archive = source === undefined ? undefined : openArchive(source)
  try {
    const stored = archive && parts ? await findStoredSession(archive, parts.id) : undefined
    const head = readSessionMetadata(stored?.record.head)
    if (parts && stored) requireSameProvider(provider, parts.id, head?.provider)
    if (parts && !stored && parts.key === undefined) throw sessionNotFoundError(parts.id, archive?.name)
    const key = requireSafeKey(head?.key ?? parts?.key)
    const given = opening.keepPrompt && head ? withStoredPrompt(head, seat.options) : seat.options
    const options = mergeOptions({ ...head?.options, cwd: head?.cwd ?? parts?.cwd }, given)
    const isFromHandle = isNamedByHandle || head?.cwd === undefined
    if (parts && isFromHandle && seat.options.cwd === undefined && options.cwd !== undefined)
      refuseForeignCwd(options.cwd)
    const place = { ...seat, options: { ...options, cwd: requireFolder(options.cwd) } }
    const writer = archive && stored ? await takeOverSession(archive, stored) : undefined
    const approved = isNamedByHandle ? [] : head?.approved
    const shared = await restoreConversation(place, stored, { key, approved })
    if (isNamedByHandle && head && head.approved.length > 0)
      shared.warnings.push(approvalsIgnoredMessage(head.approved))
    const keeping = archive && source !== undefined ? { archive, source, writer } : undefined
    return createCliSession(place, shared, parts?.id ?? newId("s"), keeping)
  } catch (error) {
    await archive?.close()
    throw error
  }
}

function withStoredPrompt(
  { options: { instructions, systemPrompt } }: CliSessionMetadata,
  options: CliOptions,
): CliOptions {
  return { ...options, instructions, systemPrompt }
}

interface OpenSessionArchive {
  archive: Archive
  source: ArchiveSource
  writer: SessionWriter | undefined
}

function createCliSession(
  seat: CliSessionDriver,
  shared: CliConversation,
  id: string,
  keeping: OpenSessionArchive | undefined,
): CliSession {
  const { provider, options } = seat
  const config = resolveOptions(provider, options)
  const writer = keeping && (keeping.writer ?? createSessionWriter(keeping.archive, id, config.name))
  let completedAt: number | undefined
  if (writer) archiveConversation(writer, seat, shared)
  if (options.trajectoryPath !== undefined) {
    mirrorTrajectoryToFile(shared, options.trajectoryPath, () => sessionTrajectory(id, shared.events, completedAt))
  }

  return createSession<CliRunOptions>({
    id,
    archive: keeping && { folder: keeping.archive.folder, directory: keeping.archive.directory(id) },
    handle() {
      const { key } = shared.session
      const isStored = keeping !== undefined && shared.events.length > 0
      if (key === undefined && !isStored) throw noHandleYetError(id)
      return cliSessionHandle({ id, provider: provider.name, key, cwd: options.cwd, folder: keeping?.archive.folder })
    },
    runtime: shared.runtime,
    start: (prompt, sent, turn) =>
      seat.start(prompt, sent, {
        options,
        turn,
        async conversation() {
          await writer?.claim()
          return shared
        },
      }),
    messages: () => shared.messages,
    events: () => shared.events,
    fork: provider.can.fork ? () => forkCliSession(seat, shared, keeping) : undefined,
    async close() {
      try {
        await shared.close()
      } finally {
        completedAt = (await writer?.close()) ?? Date.now()
      }
      return completedAt
    },
  })
}

/** Has a conversation written down: its events as they come, the rest when a run has ended. */
function archiveConversation(
  writer: SessionWriter,
  { provider, options }: CliSessionDriver,
  shared: CliConversation,
): void {
  const { record } = shared
  shared.record = (event) => {
    record(event)
    writer.addEvent(event)
  }
  shared.save = async (ended) => {
    if (!ended) return await writer.commitCycle()
    await writer.commitRunEnd({
      head: sessionMetadata(provider, options, shared),
      snapshot: await snapshotOwnRuntime(shared),
    })
  }
}

export async function findStoredSession(archive: Archive, id: string): Promise<StoredSession | undefined> {
  const found = await archive.store.get(sessionKeys.record(id))
  return found ? await readSession(archive, id) : undefined
}

async function restoreConversation(
  { provider, options }: CliSessionDriver,
  stored: StoredSession | undefined,
  from: { key: string | undefined; approved: readonly string[] | undefined },
): Promise<CliConversation> {
  const config = resolveOptions(provider, options)
  const system = stored && sessionTrajectory(stored.record.id, stored.events, undefined).system
  const shared = await createCliConversation(provider, config, { ...from, events: stored?.events, system })
  if (!stored?.snapshot || !shared.ownsRuntime) return shared
  try {
    const lost = await shared.runtime?.restore?.(stored.snapshot)
    for (const { name, reason } of lost ?? []) shared.warnings.push(`"${name}" was not brought back: ${reason}.`)
  } catch (error) {
    // No reason to lose the conversation as well.
    shared.warnings.push(`The objects of the session were not brought back: ${errorData(error).message}`)
  }
  return shared
}

/** Another session that goes on from here; this one stays as it is. */
async function forkCliSession(
  seat: CliSessionDriver,
  shared: CliConversation,
  keeping: OpenSessionArchive | undefined,
): Promise<CliSession> {
  const { provider, options } = seat
  const { events, approved, system, session } = shared
  const runtime = shared.ownsRuntime ? await shared.runtime?.fork?.() : shared.runtime
  const beginning = { key: session.key, fork: session.key !== undefined, events, approved, system }
  const config = resolveOptions(provider, options)
  const copy = await createCliConversation(
    provider,
    runtime ? { ...config, runtime: () => runtime } : config,
    beginning,
  )
  const id = newId("s")
  if (!keeping) return createCliSession(seat, copy, id, undefined)
  const archive = openArchive(keeping.source)
  const writer = createSessionWriter(archive, id, config.name)
  for (const event of events) writer.addEvent(event)
  const made = createCliSession(seat, copy, id, { ...keeping, archive, writer })
  await copy.save?.(true)
  return made
}

// A runtime that is gone keeps what was kept of it before; a shared one is its owner's to keep.
export async function snapshotOwnRuntime({ runtime, ownsRuntime }: Pick<CliConversation, "runtime" | "ownsRuntime">) {
  if (!ownsRuntime) return undefined
  try {
    return await runtime?.snapshot?.()
  } catch {
    return undefined
  }
}
