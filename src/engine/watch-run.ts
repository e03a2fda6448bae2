import type { AgentResult } from "../agent/outputs.ts"
import type { RunResult } from "../core/agent.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { decodeValue, type StoredValue } from "../sessions/value-codec.ts"
import type { Store } from "../stores/store.ts"
import { hasEnded, isUnderWay, type RunHead, readHead, runKeys, type StoredRunHead } from "./checkpoint.ts"
import { followLog } from "./follow-log.ts"
import { conversationMessages } from "./run/folded-conversation.ts"
import { readConversation, readConversationEvents, readEvents } from "./run/load-run.ts"
import { parseEvent } from "./stored-records.ts"
import { resultFromStored } from "./stored-result.ts"

export interface WatchOptions {
  /** The first sequence number to give. Default 0. */
  from?: number | undefined
  signal?: AbortSignal | undefined
}

/** The stored events of a run, then those that come, until it has ended. */
export async function* watchRun(
  store: Store,
  id: string,
  { from = 0, signal }: WatchOptions = {},
): AsyncGenerator<AgentEvent> {
  const found = await readHead(store, id)
  // Otherwise one who watches would wait for the end of a log that has lost it.
  if (found && hasEnded(found.head)) await readEvents(store, found.head)
  const over = new AbortController()
  const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  let isReached = from === 0
  let position = 0
  try {
    for await (const item of followLog(store, runKeys(id).events, 0, either)) {
      const event = parseEvent(item, id, position)
      position++
      // Runs that it has started count for themselves: theirs come where they were told.
      if (event.run === id) isReached = event.seq >= from
      if (isReached) yield event
      if (event.type === "run-end" && event.run === id && (await isFinalEnd(store, id, position))) return
    }
  } finally {
    over.abort()
  }
}

async function readOutputs(store: Store, id: string): Promise<Pick<RunResult, "objects">> {
  const stored = await store.get(runKeys(id).objects)
  // Only the engine writes there.
  return stored ? { objects: decodeValue(stored.value as StoredValue) as Record<string, unknown> } : {}
}

// A run that failed and was tried again has an earlier end.
async function isFinalEnd(store: Store, id: string, position: number): Promise<boolean> {
  const head = (await readHead(store, id))?.head
  return !head || (hasEnded(head) && position >= head.stored)
}

async function readResult(store: Store, head: RunHead): Promise<AgentResult> {
  const [own, conversation] = await Promise.all([readConversationEvents(store, head), readConversation(store, head)])
  return resultFromStored(head, own, conversationMessages(conversation))
}

/** What a run came to, once it has ended or waits for somebody. */
export async function waitForResult(
  store: Store,
  read: () => Promise<StoredRunHead>,
  id: string,
  signal: AbortSignal | undefined,
): Promise<AgentResult> {
  const over = new AbortController()
  const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const rests = followLog(store, runKeys(id).rests, 0, either)
  try {
    for (;;) {
      const { head } = await read()
      if (!isUnderWay(head)) return { ...(await readResult(store, head)), ...(await readOutputs(store, id)) }
      if (head.refused !== undefined) throw new ConfigError(head.refused)
      // What it came to before it went on is in there too, and only makes this look once more.
      const { done } = await rests.next()
      if (done) throw signal?.reason ?? new AgentError(`Run ${id} is gone.`, { code: "gone" })
    }
  } finally {
    over.abort()
    await rests.return(undefined)
  }
}
