import type { Run } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import { newId, type Prompt } from "../core/message.ts"
import type { Turn } from "../core/serial-queue.ts"
import {
  type Archive,
  type ArchiveOptions,
  type ArchiveSource,
  keys,
  openArchive,
  readSession,
  type StoredSession,
} from "../sessions/archive.ts"
import { cliHandleOf, parseHandle } from "../sessions/handle.ts"
import { approvalsLeftOut, refuseForeignArchive, refuseForeignCwd } from "../sessions/handle-folder.ts"
import { createSession, sessionTrajectory } from "../sessions/session.ts"
import { createWriter, type SessionWriter, takeOver } from "../sessions/writer.ts"
import type { CliRunOptions, CliSession } from "./cli-agent.ts"
import { type CliHead, checkedKey, headOf, noHandleYet, notFound, readHead, refuseOther } from "./cli-head.ts"
import { type CliConversation, cliConversation } from "./conversation.ts"
import { type CliOptions, mergeOptions, resolveOptions } from "./options.ts"
import { requireFolder } from "./program.ts"
import type { Provider } from "./provider.ts"
import { followInFile } from "./trajectory-file.ts"

/** What a session with a CLI is made with. */
export interface CliSeat {
  provider: Provider
  options: CliOptions
  start(
    prompt: Prompt,
    sent: CliRunOptions | undefined,
    place: { options: CliOptions; turn: Turn; conversation(): Promise<CliConversation> },
  ): Run
}

/** Opens a session with a CLI, new or one to go on with, and keeps it where there is an archive. What the options do not
 *  say is as it was in the session that goes on. */
export async function openCliSession(seat: CliSeat, opening: ArchiveOptions): Promise<CliSession> {
  const { provider } = seat
  const parts = opening.resume === undefined ? undefined : parseHandle(opening.resume)
  if (parts) refuseOther(provider, parts.id, parts.provider)
  const source = opening.archive ?? parts?.folder
  const isNamedByHandle = opening.archive === undefined && parts !== undefined
  if (isNamedByHandle && parts.folder !== undefined) refuseForeignArchive(parts.folder, parts.id)
  const archive = source === undefined ? undefined : openArchive(source)
  try {
    const stored = archive && parts ? await storedIn(archive, parts.id) : undefined
    const head = readHead(stored?.record.head)
    if (parts && stored) refuseOther(provider, parts.id, head?.provider)
    if (parts && !stored && parts.key === undefined) throw notFound(parts.id, archive?.name)
    const key = checkedKey(head?.key ?? parts?.key)
    const given = opening.keepPrompt && head ? withPromptOf(head, seat.options) : seat.options
    const options = mergeOptions({ ...head?.options, cwd: head?.cwd ?? parts?.cwd }, given)
    const isFromHandle = isNamedByHandle || head?.cwd === undefined
    if (parts && isFromHandle && seat.options.cwd === undefined && options.cwd !== undefined)
      refuseForeignCwd(options.cwd)
    const place = { ...seat, options: { ...options, cwd: requireFolder(options.cwd) } }
    const writer = archive && stored ? await takeOver(archive, stored) : undefined
    const approved = isNamedByHandle ? [] : head?.approved
    const shared = await restored(place, stored, { key, approved })
    if (isNamedByHandle && head && head.approved.length > 0) shared.warnings.push(approvalsLeftOut(head.approved))
    const keeping = archive && source !== undefined ? { archive, source, writer } : undefined
    return sessionOn(place, shared, parts?.id ?? newId("s"), keeping)
  } catch (error) {
    await archive?.close()
    throw error
  }
}

function withPromptOf({ options: { instructions, systemPrompt } }: CliHead, options: CliOptions): CliOptions {
  return { ...options, instructions, systemPrompt }
}

interface Keeping {
  archive: Archive
  source: ArchiveSource
  writer: SessionWriter | undefined
}

function sessionOn(seat: CliSeat, shared: CliConversation, id: string, keeping: Keeping | undefined): CliSession {
  const { provider, options } = seat
  const config = resolveOptions(provider, options)
  const writer = keeping && (keeping.writer ?? createWriter(keeping.archive, id, config.name))
  let completedAt: number | undefined
  if (writer) keepBy(writer, seat, shared)
  if (options.trajectoryPath !== undefined) {
    followInFile(shared, options.trajectoryPath, () => sessionTrajectory(id, shared.events, completedAt))
  }

  return createSession<CliRunOptions>({
    id,
    archive: keeping && { folder: keeping.archive.folder, directory: keeping.archive.directory(id) },
    handle() {
      const { key } = shared.session
      const isStored = keeping !== undefined && shared.events.length > 0
      if (key === undefined && !isStored) throw noHandleYet(id)
      return cliHandleOf({ id, provider: provider.name, key, cwd: options.cwd, folder: keeping?.archive.folder })
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
    fork: provider.can.fork ? () => forked(seat, shared, keeping) : undefined,
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
function keepBy(writer: SessionWriter, { provider, options }: CliSeat, shared: CliConversation): void {
  const { record } = shared
  shared.record = (event) => {
    record(event)
    writer.record(event)
  }
  shared.saved = async (ended) => {
    if (!ended) return await writer.saved()
    await writer.ended({ head: headOf(provider, options, shared), snapshot: await snapshotOf(shared) })
  }
}

export async function storedIn(archive: Archive, id: string): Promise<StoredSession | undefined> {
  const found = await archive.store.get(keys.record(id))
  return found ? await readSession(archive, id) : undefined
}

async function restored(
  { provider, options }: CliSeat,
  stored: StoredSession | undefined,
  from: { key: string | undefined; approved: readonly string[] | undefined },
): Promise<CliConversation> {
  const config = resolveOptions(provider, options)
  const system = stored && sessionTrajectory(stored.record.id, stored.events, undefined).system
  const shared = await cliConversation(provider, config, { ...from, events: stored?.events, system })
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
async function forked(seat: CliSeat, shared: CliConversation, keeping: Keeping | undefined): Promise<CliSession> {
  const { provider, options } = seat
  const { events, approved, system, session } = shared
  const runtime = shared.ownsRuntime ? await shared.runtime?.fork?.() : shared.runtime
  const beginning = { key: session.key, fork: session.key !== undefined, events, approved, system }
  const config = resolveOptions(provider, options)
  const copy = await cliConversation(provider, runtime ? { ...config, runtime: () => runtime } : config, beginning)
  const id = newId("s")
  if (!keeping) return sessionOn(seat, copy, id, undefined)
  const archive = openArchive(keeping.source)
  const writer = createWriter(archive, id, config.name)
  for (const event of events) writer.record(event)
  const made = sessionOn(seat, copy, id, { ...keeping, archive, writer })
  await copy.saved?.(true)
  return made
}

// A runtime that is gone keeps what was kept of it before; a shared one is its owner's to keep.
export async function snapshotOf({ runtime, ownsRuntime }: Pick<CliConversation, "runtime" | "ownsRuntime">) {
  if (!ownsRuntime) return undefined
  try {
    return await runtime?.snapshot?.()
  } catch {
    return undefined
  }
}
