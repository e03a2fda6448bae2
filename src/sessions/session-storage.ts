// Connects an open session to its archive: finds, records, snapshots and forks it. Used by sessions of all kinds of
// agents.
import { ConfigError, errorData } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { newId } from "../core/message.ts"
import type { Runtime, RuntimeSnapshot } from "../runtime/runtime.ts"
import { refuseForeignArchive } from "./handle-trust.ts"
import { keptDataWarning } from "./other-data.ts"
import type { Archive, ArchiveOptions, ArchiveSource, StoredSession } from "./session-archive.ts"
import { findSessionRecord, openArchive, readSession } from "./session-archive.ts"
import { checkSessionId, parseSessionHandle, type SessionHandleParts } from "./session-handle.ts"
import { createSessionWriter, type SessionWriter } from "./session-writer.ts"

/** The archive of an open session, and the writer that has the session in this process. */
export interface SessionStorage {
  readonly archive: Archive
  readonly source: ArchiveSource
  readonly writer: SessionWriter
}

export interface SessionLocation {
  /** The parts of the handle, if a session is resumed. */
  parts: SessionHandleParts | undefined
  source: ArchiveSource | undefined
  /** The id that the caller gave to the session. It may be stored or not. */
  givenId: string | undefined
  /** True if only the handle names the archive: permanent approvals stored there are then ignored. */
  isNamedByHandle: boolean
}

/** Finds the archive by the options or the handle. `checkParts` may refuse the handle before its folder is checked. */
export function locateSession(
  { archive, id, resume }: ArchiveOptions,
  checkParts: (parts: SessionHandleParts) => void,
): SessionLocation {
  if (id !== undefined) checkGivenId(id, archive, resume)
  if (resume === undefined) return { parts: undefined, source: archive, givenId: id, isNamedByHandle: false }
  const parts = parseSessionHandle(resume)
  checkParts(parts)
  if (archive === undefined && parts.folder !== undefined) refuseForeignArchive(parts.folder, parts.id)
  return { parts, source: archive ?? parts.folder, givenId: undefined, isNamedByHandle: archive === undefined }
}

function checkGivenId(id: string, archive: ArchiveSource | undefined, resume: string | undefined): void {
  checkSessionId(id)
  if (resume !== undefined)
    throw new ConfigError("session: `id` and `resume` both name a session. `id` alone resumes it, if it is stored.")
  if (archive === undefined)
    throw new ConfigError("session: `id` needs `archive`, where the session is stored: agent.session({ id, archive }).")
}

/** The id of the session to open, with `parts` if it is resumed: by a handle, or because the archive has the id that
 *  the caller gave. Throws if that session is one of another agent. */
export async function identifySession(
  archive: Archive | undefined,
  { parts, givenId }: SessionLocation,
  agent: string,
): Promise<{ id: string; parts: SessionHandleParts | undefined }> {
  if (givenId === undefined) return { id: parts?.id ?? newId("s"), parts }
  const stored = archive && (await findSessionRecord(archive, givenId))
  if (!stored) return { id: givenId, parts: undefined }
  if (stored.agent === agent) return { id: givenId, parts: { id: givenId } }
  throw new ConfigError(
    `Session "${givenId}" in ${archive.name} is one of the agent "${stored.agent}", and this is "${agent}". Use another ` +
      `id, such as "${agent}-${givenId}", or continue it with this agent: agent.session({ resume, archive }).`,
  )
}

/** Calls `open` with the archive, if there is one, and closes the archive if that fails. */
export async function withSessionArchive<T>(
  source: ArchiveSource | undefined,
  open: (archive: Archive | undefined) => Promise<T>,
): Promise<T> {
  const archive = source === undefined ? undefined : openArchive(source)
  try {
    return await open(archive)
  } catch (error) {
    await archive?.close()
    throw error
  }
}

export async function findStoredSession(archive: Archive, id: string): Promise<StoredSession | undefined> {
  return (await findSessionRecord(archive, id)) ? await readSession(archive, id) : undefined
}

/** The storage of a session, with the writer of a session that was taken over, or a new one. */
export function createSessionStorage(
  archive: Archive | undefined,
  source: ArchiveSource | undefined,
  { id, agent, writer }: { id: string; agent: string; writer?: SessionWriter | undefined },
): SessionStorage | undefined {
  if (!archive || source === undefined) return undefined
  return { archive, source, writer: writer ?? createSessionWriter(archive, id, agent) }
}

/** The storage of a fork: a new session in the same archive, with the events so far. */
export function forkSessionStorage(
  storage: SessionStorage | undefined,
  fork: { id: string; agent: string; events: readonly AgentEvent[] },
): SessionStorage | undefined {
  if (!storage) return undefined
  const forked = createSessionStorage(openArchive(storage.source), storage.source, fork)
  for (const event of fork.events) forked?.writer.addEvent(event)
  return forked
}

/** Passes the events that a conversation records on to the writer, from now on. */
export function storeEvents(writer: SessionWriter, conversation: { record(event: AgentEvent): void }): void {
  const { record } = conversation
  conversation.record = (event) => {
    record(event)
    writer.addEvent(event)
  }
}

interface OwnedRuntime {
  readonly runtime: Runtime | undefined
  /** True if the conversation created the runtime. */
  readonly ownsRuntime: boolean
}

/** Stores a conversation with a coding CLI: its events as they come, `state` when a run has ended. */
export function storeConversation(
  writer: SessionWriter,
  conversation: {
    record(event: AgentEvent): void
    save?: ((ended: boolean) => Promise<void>) | undefined
  },
  state: () => OwnedRuntime & { head: Json },
): void {
  storeEvents(writer, conversation)
  conversation.save = async (ended) => {
    if (!ended) return await writer.commitCycle()
    const { head, ...owned } = state()
    await writer.commitRunEnd({ head, snapshot: await snapshotOwnRuntime(owned) })
  }
}

/** Called before the first cell of a session that is stored. */
export async function trackOwnRuntime({ runtime, ownsRuntime }: OwnedRuntime): Promise<void> {
  if (ownsRuntime) await runtime?.trackInjected?.()
}

/** Returns undefined for a runtime that is shared or gone: the snapshot stored last, if any, then stays. */
export async function snapshotOwnRuntime({ runtime, ownsRuntime }: OwnedRuntime): Promise<RuntimeSnapshot | undefined> {
  if (!ownsRuntime) return undefined
  try {
    return await runtime?.snapshot?.()
  } catch {
    return undefined
  }
}

/** Restores a snapshot into a runtime of the conversation. Returns a warning for each object that could not be
 *  restored. */
export async function restoreOwnRuntime(
  { runtime, ownsRuntime }: OwnedRuntime,
  snapshot: RuntimeSnapshot | undefined,
): Promise<string[]> {
  if (!snapshot || !ownsRuntime) return []
  try {
    const lost = await runtime?.restore?.(snapshot)
    const kept = keptDataWarning(lost ?? [])
    return [
      ...(lost ?? [])
        .filter(({ otherData }) => otherData === undefined)
        .map(({ name, reason }) => `"${name}" was not brought back: ${reason}.`),
      ...(kept ? [kept.message] : []),
    ]
  } catch (error) {
    // The conversation can continue without its objects.
    return [`The objects of the session were not brought back: ${errorData(error).message}`]
  }
}
