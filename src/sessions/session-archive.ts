// Archives of sessions in a folder or a store: open, list, read and delete.

import { resolve } from "node:path"
import { checkName } from "../core/checks/check-name.ts"
import { checkOptionNames } from "../core/checks/check-options.ts"
import { AgentError, ConfigError, ConflictError } from "../core/errors.ts"
import type { AgentEvent, Metadata, Status } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { messageText } from "../core/message.ts"
import { isRecord } from "../core/object.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "../runtime/runtime.ts"
import type { Store, StoreChange } from "../stores/store.ts"
import { isStoreName, sqlitePath, storeName } from "../stores/store-names.ts"
import type { ReadArtifact } from "../tools/artifacts.ts"
import { checkCalls, checkEvent, checkRecord, damagedSessionError } from "./archive-checks.ts"
import type { LoggedCall } from "./call-log.ts"
import { sessionDirectory } from "./folder/session-file.ts"
import { openSessionFolder, type SessionStore } from "./folder/session-folder.ts"
import type { RecordingEntry } from "./recording-journal.ts"
import { isWriterBusy, type WriterIdentity } from "./writer-identity.ts"

/** Where sessions are stored: a folder, or any store. */
export type ArchiveSource = string | Store

/** The options of `agent.session` to archive a session or to resume one. */
export interface ArchiveOptions {
  /** Stores the session in this folder, as `sessions/<id>/events.jsonl`, or in a store. Default: it is not stored. */
  archive?: ArchiveSource | undefined
  /** Your own name for the session, such as `user-42`: resumes the session of this id, or creates it if `archive` has
   *  none. Needs `archive`. */
  id?: string | undefined
  /** Resumes a session: its `handle`, or its id together with `archive`. */
  resume?: string | undefined
  /** Also stores a recording, so that the session can be replayed: the answers of models and the results of functions.
   *  Default true. */
  recording?: boolean | undefined
  /** Keeps the system prompt of the resumed session, even if the agent has changed since. Default false: the next run
   *  uses the current one. */
  keepPrompt?: boolean | undefined
}

/** A session as lists show it. */
export interface SessionInfo {
  id: string
  agent: string
  /** The beginning of its first prompt. */
  title: string
  createdAt: number
  updatedAt: number
  /** When it was closed; absent if it was not. */
  completedAt?: number
  /** Set if its last run failed because the account's limit was reached. */
  usageLimited?: true | undefined
  /** The number of ended runs; `status` is that of the last one. */
  runs: number
  status?: Status
  metadata: Metadata
}

/** The stored record of a session, beside its events. */
export interface SessionRecord extends SessionInfo {
  version: 1
  writer: WriterIdentity
  /** The state of the conversation that is not in its events. Only the agent interprets it. */
  head?: Json
  /** Describes the stored snapshot; `at` is the number of events before it. */
  snapshot?: Omit<RuntimeSnapshot, "data" | "changes" | "lost"> & { lost: RuntimeLoss[]; at: number }
}

/** A session as it is read from an archive. */
export interface StoredSession {
  record: SessionRecord
  revision: number
  events: AgentEvent[]
  snapshot?: RuntimeSnapshot | undefined
  /** The calls of the cycle that was under way at the last commit; undefined if calls were not logged. */
  calls?: LoggedCall[] | undefined
}

export interface Archive {
  readonly store: SessionStore
  /** For messages: the folder, or "the store". */
  readonly name: string
  /** The folder of a session; undefined if the archive is a store. */
  directory(id: string): string | undefined
  /** The archive folder; undefined if the archive is a store. */
  readonly folder: string | undefined
  /** Closes the archive folder. A store that was passed in stays open. */
  close(): Promise<void>
}

export function openArchive(source: ArchiveSource): Archive {
  if (typeof source === "string" && isStoreName(source)) throw storeNameError(source)
  const folder = typeof source === "string" ? resolve(source) : undefined
  const store = typeof source === "string" ? openSessionFolder(source) : source
  return {
    store,
    folder,
    name: folder === undefined ? "the store" : `"${folder}"`,
    directory: (id) => (folder === undefined ? undefined : sessionDirectory(folder, id)),
    close: async () => (folder === undefined ? undefined : await store.close()),
  }
}

/** A folder of this name would be created otherwise. */
function storeNameError(name: string): ConfigError {
  const path = sqlitePath(name)
  const store = path === undefined ? "redisStore(url)" : `sqliteStore(${JSON.stringify(path)})`
  return new ConfigError(
    `The archive "${storeName(name)}" is the name of a store, and a text is a folder here. Pass the store: ${store} of karst/stores.`,
  )
}

export const sessionKeys = {
  record: (id: string) => `sessions/${id}/session`,
  events: (id: string) => `sessions/${id}/events`,
  recording: (id: string) => `sessions/${id}/recording`,
  snapshot: (id: string) => `sessions/${id}/snapshot`,
  /** The prefix of the keys of its artifacts. */
  artifacts: (id: string) => `sessions/${id}/artifacts/`,
  calls: (id: string) => `sessions/${id}/calls`,
}

/** Opens an archive for some work and closes it afterwards. */
export async function withArchive<T>(source: ArchiveSource, work: (archive: Archive) => Promise<T>): Promise<T> {
  const archive = openArchive(source)
  try {
    return await work(archive)
  } finally {
    await archive.close()
  }
}

/** Lists the sessions of an archive, the newest first; with `search`, only those that mention the text. A damaged
 *  session is left out, with a process warning. */
export async function listSessions(
  archive: ArchiveSource,
  options: { agent?: string | undefined; search?: string | undefined } = {},
): Promise<SessionInfo[]> {
  checkOptionNames("listSessions()", options, "agent", "search")
  const { agent, search } = options
  return await withArchive(archive, async ({ store, name }) => {
    const found: SessionInfo[] = []
    for await (const key of store.keys("sessions/")) {
      if (!key.endsWith("/session")) continue
      try {
        const record = parseRecord((await store.get(key))?.value, name)
        if (!record || (agent !== undefined && record.agent !== agent)) continue
        if (search === undefined || (await mentions(store, record, search))) found.push(sessionInfoOf(record))
      } catch (error) {
        process.emitWarning(`A session is left out. ${asDamagedError(error).message}`)
      }
    }
    return found.sort((one, other) => other.updatedAt - one.updatedAt)
  })
}

/** Deletes a session and all its data, even if it is damaged. Throws a `ConflictError` if a run of it is under way
 *  elsewhere. */
export async function deleteSession(archive: ArchiveSource, id: string): Promise<void> {
  await withArchive(archive, async (opened) => {
    const found = await readRecord(opened, id).catch((error: unknown) => void asDamagedError(error))
    if (found) refuseIfBusy(found.record)
    const artifacts = await Array.fromAsync(opened.store.keys(sessionKeys.artifacts(id)))
    const gone = [
      sessionKeys.record(id),
      sessionKeys.events(id),
      sessionKeys.recording(id),
      sessionKeys.snapshot(id),
      sessionKeys.calls(id),
      ...artifacts,
    ]
    const changes = gone.map((key): StoreChange => ({ type: "delete", key }))
    await opened.store.commit(changes, found && { key: sessionKeys.record(id), ifRevision: found.revision })
  })
}

export async function readSession(archive: Archive, id: string): Promise<StoredSession> {
  const { record, revision } = await readRecord(archive, id)
  const events: AgentEvent[] = []
  const log = `session "${id}" in ${archive.name}`
  for await (const event of archive.store.read(sessionKeys.events(id)))
    events.push(checkEvent(event, events.length, log))
  if (events.length === 0 && record.runs > 0) {
    throw new AgentError(
      `The events of session "${id}" in ${archive.name} are gone. Restore them from a backup, or delete the session.`,
      { code: "corrupt" },
    )
  }
  const data = record.snapshot && (await archive.store.get(sessionKeys.snapshot(id)))?.value
  const snapshot = record.snapshot && data instanceof Uint8Array ? { ...record.snapshot, data } : undefined
  const calls = checkCalls((await archive.store.get(sessionKeys.calls(id)))?.value, log)
  return { record, revision, events, snapshot, calls }
}

export function sessionArtifactReader({ store }: Archive, id: string): ReadArtifact {
  return async (name) => {
    const { value } = (await store.get(sessionKeys.artifacts(id) + name)) ?? {}
    if (value === undefined || typeof value === "string") return value
    throw damagedSessionError(`The artifact "${name}" of session "${id}" is not as Karst writes it.`)
  }
}

export async function readArtifacts(archive: Archive, id: string): Promise<Map<string, string>> {
  const artifacts = new Map<string, string>()
  const read = sessionArtifactReader(archive, id)
  for await (const key of archive.store.keys(sessionKeys.artifacts(id))) {
    const name = key.slice(sessionKeys.artifacts(id).length)
    const text = await read(name)
    if (text !== undefined) artifacts.set(name, text)
  }
  return artifacts
}

export async function readRecording({ store }: Archive, id: string): Promise<RecordingEntry[]> {
  const entries: RecordingEntry[] = []
  for await (const entry of store.read(sessionKeys.recording(id))) entries.push(entry as unknown as RecordingEntry)
  return entries
}

export function refuseIfBusy({ id, writer }: SessionRecord): void {
  if (!isWriterBusy(writer)) return
  throw new ConflictError(
    `Session ${id} is at work in process ${writer.pid} on ${writer.host}. Wait until its run has ended, or stop it there; ` +
      "if that process is gone, try again in a minute.",
    { details: { id, pid: writer.pid, host: writer.host } },
  )
}

export function sessionInfoOf(record: SessionRecord): SessionInfo {
  const { version, writer, head, snapshot, ...info } = record
  return info
}

/** Returns undefined if the archive has no such session. */
export async function findSessionRecord(archive: Archive, id: string): Promise<SessionRecord | undefined> {
  return (await findRecord(archive, id))?.record
}

async function readRecord(archive: Archive, id: string): Promise<{ record: SessionRecord; revision: number }> {
  const found = await findRecord(archive, id)
  if (found) return found
  throw new ConfigError(
    `There is no session "${id}" in ${archive.name}. listSessions(archive) tells which there are; one is kept from its ` +
      "first send on.",
  )
}

async function findRecord(
  { store, name }: Archive,
  id: string,
): Promise<{ record: SessionRecord; revision: number } | undefined> {
  checkName("The id of a session", id, { segment: true })
  const entry = await store.get(sessionKeys.record(id))
  if (!entry) return undefined
  const record = parseRecord(entry.value, name)
  if (!record) {
    throw new ConfigError(
      `Session "${id}" in ${name} was written by another version of Karst. Update karst to read it.`,
    )
  }
  if (record.id !== id) throw damagedSessionError(`The record of session "${id}" in ${name} is that of "${record.id}".`)
  return { record, revision: entry.revision }
}

function asDamagedError(error: unknown): AgentError {
  if (error instanceof AgentError && error.code === "corrupt") return error
  throw error
}

function parseRecord(value: unknown, where: string): SessionRecord | undefined {
  const isOurs = isRecord(value) && value.version === 1
  return isOurs ? checkRecord(value, where) : undefined
}

async function mentions(store: SessionStore, record: SessionRecord, text: string): Promise<boolean> {
  const wanted = text.toLowerCase()
  const has = (said: string) => said.toLowerCase().includes(wanted)
  if (has(`${record.id} ${record.agent} ${record.title} ${JSON.stringify(record.metadata)}`)) return true
  let index = 0
  for await (const item of store.read(sessionKeys.events(record.id))) {
    if (searchableTexts(checkEvent(item, index++, `session "${record.id}"`)).some(has)) return true
  }
  return false
}

function searchableTexts(event: AgentEvent): string[] {
  switch (event.type) {
    case "run-start":
      return event.messages.map(messageText)
    case "message-end":
    case "prompt-steered":
      return [messageText(event.message)]
    case "code-end":
    case "tool-end":
      return [event.text]
    case "run-end":
      return [event.output]
    default:
      return []
  }
}
