// Watches the events of a stored run and waits for its result.
import type { AgentResult } from "../agent/outputs.ts"
import { createResult } from "../agent/run/run-result.ts"
import { createRunState } from "../agent/run/run-state.ts"
import type { RunResult } from "../core/agent.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { Message } from "../core/message.ts"
import { trajectory } from "../core/trajectory.ts"
import { decodeValue, type StoredValue } from "../sessions/value-codec.ts"
import type { Store } from "../stores/store.ts"
import {
  damagedRunError,
  hasEnded,
  isUnderWay,
  type RunHead,
  readHead,
  runKeys,
  type StoredRunHead,
} from "./checkpoint.ts"
import { followLog } from "./follow-log.ts"
import { isApprovalEvent } from "./run/engine-events.ts"
import { conversationMessages } from "./run/folded-conversation.ts"
import { conversationEvents, readConversation, readEvents } from "./run/load-run.ts"
import { parseEvent, parseUnsavedEvents, type UnsavedEvents } from "./stored-records.ts"

export interface WatchOptions {
  /** The first sequence number to yield. Default 0. */
  from?: number | undefined
  /** Ends the iteration. */
  signal?: AbortSignal | undefined
}

/** Yields the stored events of a run, then new ones, until it has ended. */
export async function* watchRun(
  store: Store,
  id: string,
  { from = 0, signal }: WatchOptions = {},
): AsyncGenerator<AgentEvent> {
  const found = await readHead(store, id)
  // Fails if the log is too short. Without this, a log that has lost its end would be watched forever.
  if (found && hasEnded(found.head)) await readEvents(store, found.head)
  const ended = new AbortController()
  const anySignal = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal
  // The events of a held cycle are yielded when it requests an approval. Later the log has them again.
  const early = new Set<string>()
  let isReached = from === 0
  let position = 0
  const isWanted = (event: AgentEvent) => {
    // Events of child runs have their own numbers; they are yielded at their position in the log.
    if (event.run === id) isReached = event.seq >= from
    return isReached && !early.has(`${event.run} ${event.seq}`)
  }
  try {
    for await (const item of followEvents(store, id, anySignal, () => position)) {
      if ("unsaved" in item) {
        for (const event of item.unsaved.filter(isWanted)) {
          early.add(`${event.run} ${event.seq}`)
          yield event
        }
        continue
      }
      const event = parseEvent(item.stored, id, position)
      position++
      if (isWanted(event)) yield event
      if (event.type === "run-end" && event.run === id && (await isFinalEnd(store, id, position))) return
    }
  } finally {
    ended.abort()
  }
}

type FollowedItem = { stored: Json } | { unsaved: AgentEvent[] }

/** Yields the items of a run's log, and the unsaved events of its cycle each time that the run begins to wait.
 *  `position` is the number of items that were processed: unsaved events come after all earlier ones of the log. */
async function* followEvents(
  store: Store,
  id: string,
  signal: AbortSignal,
  position: () => number,
): AsyncGenerator<FollowedItem> {
  const log = followLog(store, runKeys(id).events, 0, signal)
  const rests = followLog(store, runKeys(id).rests, 0, signal)
  const nextItem = () => log.next().then((item) => ({ item }))
  const nextRest = () => rests.next().then((rest) => ({ rest }))
  let [item, rest] = [nextItem(), nextRest()]
  let unsaved: UnsavedEvents | undefined
  try {
    for (;;) {
      const next = await Promise.race([item, rest])
      if ("rest" in next) {
        if (next.rest.done) return
        unsaved = await readUnsavedEvents(store, id)
        rest = nextRest()
      } else {
        if (next.item.done) return
        yield { stored: next.item.value }
        item = nextItem()
      }
      if (unsaved && unsaved.stored <= position()) {
        // If the log has more, the cycle was saved or dropped.
        if (unsaved.stored === position()) yield { unsaved: unsaved.events }
        unsaved = undefined
      }
    }
  } finally {
    // A log that was read ahead must be left, or it is watched for ever.
    for (const pending of [item, rest, log.return(undefined), rests.return(undefined)]) pending.catch(() => undefined)
  }
}

async function readUnsavedEvents(store: Store, id: string): Promise<UnsavedEvents | undefined> {
  const entry = await store.get(runKeys(id).unsaved)
  return entry && parseUnsavedEvents(entry.value, id)
}

async function readOutputs(store: Store, id: string): Promise<Pick<RunResult, "objects">> {
  const stored = await store.get(runKeys(id).objects)
  // Only the engine writes this key.
  return stored ? { objects: decodeValue(stored.value as StoredValue) as Record<string, unknown> } : {}
}

// A run that failed and was retried has an earlier `run-end` in its log.
async function isFinalEnd(store: Store, id: string, position: number): Promise<boolean> {
  const head = (await readHead(store, id))?.head
  return !head || (hasEnded(head) && position >= head.stored)
}

async function readResult(store: Store, head: RunHead): Promise<AgentResult> {
  const events = await readEvents(store, head)
  const conversation = await readConversation(store, head, events)
  const asked = head.status === "waiting" ? ((await readUnsavedEvents(store, head.id))?.events ?? []) : []
  const known = [...conversationEvents(head, events), ...asked.filter(isApprovalEvent)]
  return resultFromStored(head, known, conversationMessages(conversation))
}

/** Waits until the run has ended, or waits for an answer or an approval, and returns its result. */
export async function waitForResult(
  store: Store,
  read: () => Promise<StoredRunHead>,
  id: string,
  signal: AbortSignal | undefined,
): Promise<AgentResult> {
  const ended = new AbortController()
  const anySignal = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal
  const rests = followLog(store, runKeys(id).rests, 0, anySignal)
  try {
    for (;;) {
      const { head } = await read()
      if (!isUnderWay(head)) return { ...(await readResult(store, head)), ...(await readOutputs(store, id)) }
      if (head.refused !== undefined) throw new ConfigError(head.refused)
      // The log also has earlier entries, which only cause another read of the head.
      const { done } = await rests.next()
      if (done) throw signal?.reason ?? new AgentError(`Run ${id} is gone.`, { code: "gone" })
    }
  } finally {
    ended.abort()
    await rests.return(undefined)
  }
}

function resultFromStored(
  { id, status: stored, state = createRunState(), failedWith, pending }: RunHead,
  events: readonly AgentEvent[],
  messages: Message[],
): AgentResult {
  const record = trajectory(events)
  const result = createResult(id, failedWith ? { ...state, tools: failedWith.tools } : state, undefined)
  result.messages = messages
  result.trajectory = record
  const end = events.findLast((event) => event.type === "run-end" && event.run === id)
  if (end?.type !== "run-end") {
    if (stored !== "waiting") throw damagedRunError(id, `it is ${stored}, and its log has no end`)
    return { ...result, status: "waiting", completion: { by: "question" }, ...(pending && { pending }) }
  }
  const { status, output, cycles, usage, reason, detail, error } = end
  Object.assign(result, { status, output, cycles, usage }, reason && { reason }, detail !== undefined && { detail })
  delete result.error
  delete result.pending
  if (error) result.error = error
  if (status === "aborted") result.completion = { by: "abort" }
  return result
}
