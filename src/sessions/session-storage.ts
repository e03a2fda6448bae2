// Connects an open session to its archive: finds, records, snapshots and forks it. Used by sessions of all kinds of
// agents.
import { errorData } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { Runtime, RuntimeSnapshot } from "../runtime/runtime.ts"
import { refuseForeignArchive } from "./handle-trust.ts"
import type { Archive, ArchiveOptions, ArchiveSource, StoredSession } from "./session-archive.ts"
import { openArchive, readSession, sessionKeys } from "./session-archive.ts"
import { parseSessionHandle, type SessionHandleParts } from "./session-handle.ts"
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
  /** True if only the handle names the archive: permanent approvals stored there are then ignored. */
  isNamedByHandle: boolean
}

/** Finds the archive by the options or the handle. `checkParts` may refuse the handle before its folder is checked. */
export function locateSession(
  { archive, resume }: ArchiveOptions,
  checkParts: (parts: SessionHandleParts) => void,
): SessionLocation {
  if (resume === undefined) return { parts: undefined, source: archive, isNamedByHandle: false }
  const parts = parseSessionHandle(resume)
  checkParts(parts)
  if (archive === undefined && parts.folder !== undefined) refuseForeignArchive(parts.folder, parts.id)
  return { parts, source: archive ?? parts.folder, isNamedByHandle: archive === undefined }
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
  const found = await archive.store.get(sessionKeys.record(id))
  return found ? await readSession(archive, id) : undefined
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
    return (lost ?? []).map(({ name, reason }) => `"${name}" was not brought back: ${reason}.`)
  } catch (error) {
    // The conversation can continue without its objects.
    return [`The objects of the session were not brought back: ${errorData(error).message}`]
  }
}
