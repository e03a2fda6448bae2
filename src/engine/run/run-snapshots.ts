// Takes snapshots of a run's live objects and reads them back.
import { isDeepStrictEqual } from "node:util"
import type { AgentConfig } from "../../agent/agent-config.ts"
import type { Conversation } from "../../agent/conversation.ts"
import { errorData } from "../../core/errors.ts"
import type { AgentEvent } from "../../core/event.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "../../runtime/runtime.ts"
import type { Store, StoreChange } from "../../stores/store.ts"
import { damagedRunError, type RunHead, runKeys, type SnapshotInfo } from "../checkpoint.ts"

/** A new snapshot for a checkpoint. */
export interface TakenSnapshot {
  note: SnapshotInfo
  changes: StoreChange[]
}

/** Takes a snapshot of the runtime; resolves to undefined if its objects cannot have changed since the last one. */
export async function takeSnapshot(
  { usesCode }: AgentConfig,
  { runtime }: Conversation,
  events: readonly AgentEvent[],
  { id, snapshot: before }: RunHead,
  maxBytes: number,
): Promise<TakenSnapshot | undefined> {
  if (!usesCode || !runtime.snapshot) return undefined
  // After a snapshot with lost objects another one is taken, because a loss is reported only once.
  if (before && before.lost.length === 0 && !events.some(({ type }) => eventsThatChangeObjects.has(type)))
    return undefined
  const keys = runKeys(id)
  const { language } = runtime
  const whole = before?.kept ? (before.since ?? before.hash) : ""
  try {
    const { data, hash, lost, since } = await runtime.snapshot({ maxBytes, since: whole })
    if (before?.hash === hash && before.language === language && before.since === since) {
      return isDeepStrictEqual(before.lost, lost) ? undefined : { note: { ...before, lost }, changes: [] }
    }
    if (since !== undefined) {
      return {
        note: { hash, since, language, lost, kept: true },
        changes: [{ type: "put", key: keys.snapshotChanges, value: data }],
      }
    }
    if (data.byteLength > maxBytes) {
      const reason = `all objects together were ${megabytes(data.byteLength)}, and ${megabytes(maxBytes)} are kept`
      return notKept(await allNamesLost(runtime, reason), hash)
    }
    const changes: StoreChange[] = [{ type: "put", key: keys.snapshot, value: data }]
    if (before?.since !== undefined) changes.push({ type: "delete", key: keys.snapshotChanges })
    return { note: { hash, language, lost, kept: true }, changes }
  } catch (error) {
    return notKept(await allNamesLost(runtime, `it could not be kept: ${errorData(error).message}`), "")
  }

  function notKept(lost: RuntimeLoss[], hash: string): TakenSnapshot {
    const gone = [keys.snapshot, keys.snapshotChanges]
    return {
      note: { hash, language, lost, kept: false },
      changes: gone.map((key): StoreChange => ({ type: "delete", key })),
    }
  }
}

export async function readSnapshot(store: Store, { id, snapshot }: RunHead): Promise<RuntimeSnapshot | undefined> {
  if (!snapshot?.kept) return undefined
  const { hash, since, language, lost } = snapshot
  const [data, changes] = await Promise.all([
    bytesAt(runKeys(id).snapshot),
    since === undefined ? undefined : bytesAt(runKeys(id).snapshotChanges),
  ])
  if (!changes) return { version: 1, language, hash, lost, data }
  return { version: 1, language, hash: since ?? "", lost, data, changes: { data: changes, hash, lost } }

  async function bytesAt(key: string): Promise<Uint8Array> {
    const entry = await store.get(key)
    if (entry?.value instanceof Uint8Array) return entry.value
    throw damagedRunError(id, "its live objects are missing")
  }
}

const eventsThatChangeObjects = new Set<AgentEvent["type"]>([
  "code-end",
  "tool-end",
  "memory-compacted",
  "skill-activated",
])

async function allNamesLost(runtime: Conversation["runtime"], reason: string): Promise<RuntimeLoss[]> {
  const names = await runtime.names()
  return names.filter(({ injected }) => !injected).map(({ name }) => ({ name, reason }))
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`
}
