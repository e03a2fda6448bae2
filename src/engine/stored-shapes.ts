import type { DurableOptions } from "../agent/durable.ts"
import { type Check, isNumber, isObject, isText, listOf, objectWith } from "../core/check-shape.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { UserMessage } from "../core/message.ts"
import { damagedRun } from "./checkpoint.ts"
import type { InboxMessage } from "./inbox.ts"
import type { JournalEntry } from "./journal.ts"
import { optionsBack, type StoredRunOptions } from "./run-options.ts"

// A store holds whatever was written to it, by other programs and other versions too. What has another form than the engine writes
// is reported as `corrupt`.

type Stored = Json | Uint8Array

const isEvent = objectWith({ type: isText, run: isText, seq: isNumber })
const isJournalEntry = objectWith({ type: isText, key: isText })
const isInboxMessage = objectWith({ type: isText }, { text: isText, key: isText, decision: isText, reason: isText })
const isPrompt = objectWith({ id: isText, role: isText, parts: listOf(objectWith({ type: isText })) })

/** The prompt of a run. */
export function promptIn(value: Stored, run: string): UserMessage {
  return checked<UserMessage>(value, isPrompt, run, "its prompt is not a message")
}

/** The options of a run. */
export function optionsIn(value: Stored, run: string): DurableOptions {
  return optionsBack(checked<StoredRunOptions>(value, isObject, run, "its options are not an object"))
}

/** The events of a run, from its log. */
export function eventsIn(items: readonly Json[], run: string): AgentEvent[] {
  return items.map((item, position) => eventIn(item, run, position))
}

export function eventIn(item: Json, run: string, position: number): AgentEvent {
  return checked<AgentEvent>(item, isEvent, run, `item ${position} of its log is not an event`)
}

export function journalIn(items: readonly Json[], run: string): JournalEntry[] {
  const what = (position: number) => `item ${position} of its journal is not an entry`
  return items.map((item, position) => checked<JournalEntry>(item, isJournalEntry, run, what(position)))
}

export function messageIn(item: Json, run: string): InboxMessage {
  return checked<InboxMessage>(item, isInboxMessage, run, "its inbox has something that is not a message")
}

/** The name of a run, in a record that leads to it. */
export function runIdIn(value: Stored, where: string): string {
  if (typeof value === "string" && value !== "") return value
  throw damagedRun(where, "the record that leads to it is not the id of a run")
}

export interface KeyRecord {
  run: string
  session?: string
}

export function keyRecordIn(value: Stored, key: string): KeyRecord {
  const isKeyRecord = objectWith({ run: isText }, { session: isText })
  return checked<KeyRecord>(value, isKeyRecord, `with the key "${key}"`, "the record of the key does not name a run")
}

// The check is what tells that it is one.
function checked<T>(value: unknown, check: Check, run: string, what: string): T {
  if (check(value)) return value as T
  throw damagedRun(run, what)
}
