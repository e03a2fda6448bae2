import { ConflictError } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { newId, type Prompt, userMessage } from "../core/message.ts"
import type { Change, Store } from "../stores/store.ts"
import { type Head, headChanges, keyOfKey, keyOfSession, keysOf } from "./checkpoint.ts"

export interface SubmitOptions {
  /** Makes submitting it twice the same as once. */
  key?: string | undefined
  /** Runs of one session share a conversation and its objects, one after the other. */
  session?: string | undefined
  metadata?: Metadata | undefined
}

/** Writes a new run, or finds the one that the key stands for. */
export async function storeRun(
  store: Store,
  agent: string,
  prompt: Prompt,
  { key, session, metadata = {} }: SubmitOptions,
): Promise<{ head: { id: string }; isNew: boolean }> {
  const input = userMessage(prompt) as unknown as Json
  for (;;) {
    const known = key === undefined ? undefined : await store.get(keyOfKey(agent, key))
    if (typeof known?.value === "string") return { head: { id: known.value }, isNew: false }
    const head = newHead(agent, metadata)
    const keys = keysOf(head.id)
    const changes: Change[] = [{ type: "put", key: keys.input, value: input }]
    let guard = { key: keys.head, ifRevision: 0 }
    if (key !== undefined) {
      head.key = key
      guard = { key: keyOfKey(agent, key), ifRevision: 0 }
      changes.push({ type: "put", key: guard.key, value: head.id })
    }
    if (session !== undefined) {
      const name = keyOfSession(agent, session)
      const last = await store.get(name)
      head.session = session
      guard = { key: name, ifRevision: last?.revision ?? 0 }
      changes.push({ type: "put", key: name, value: head.id })
      if (typeof last?.value === "string") {
        head.after = last.value
        changes.push({ type: "put", key: keysOf(last.value).next, value: head.id })
      }
    }
    try {
      await store.commit([...changes, ...headChanges(head)], guard)
      return { head, isNew: true }
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

function newHead(agent: string, metadata: Metadata): Head {
  const createdAt = Date.now()
  return {
    version: 1,
    id: newId("run"),
    agent,
    status: "queued",
    told: [],
    unheard: [],
    metadata,
    createdAt,
    updatedAt: createdAt,
    stored: 0,
    seq: 0,
    journal: 0,
    inbox: 0,
    asked: [],
    fence: 0,
    seed: newId("seed"),
  }
}
