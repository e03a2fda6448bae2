// Parses and checks the records of runs that are read from a store.
import type { DurableOptions } from "../agent/run/durable-run.ts"
import { isFiniteNumber, isListOf, isObjectWith, isString, type ShapeCheck } from "../core/checks/check-shape.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { UserMessage } from "../core/message.ts"
import { isRecord } from "../core/object.ts"
import { damagedRunError } from "./checkpoint.ts"
import type { JournalEntry } from "./journal/run-journal.ts"
import type { InboxMessage } from "./run/run-inbox.ts"
import { decodeRunOptions, type StoredRunOptions } from "./submit-options.ts"

// Other programs and other versions may have written to the store. A record of another form is an error of code
// `corrupt`.

type Stored = Json | Uint8Array

const isEvent = isObjectWith({ type: isString, run: isString, seq: isFiniteNumber })
const isJournalEntry = isObjectWith({ type: isString, key: isString })
const isInboxMessage = isObjectWith(
  { type: isString },
  { text: isString, key: isString, decision: isString, reason: isString },
)
const isPrompt = isObjectWith({ id: isString, role: isString, parts: isListOf(isObjectWith({ type: isString })) })

export function parsePrompt(value: Stored, run: string): UserMessage {
  return checkStored<UserMessage>(value, isPrompt, run, "its prompt is not a message")
}

export function parseRunOptions(value: Stored, run: string): DurableOptions {
  return decodeRunOptions(checkStored<StoredRunOptions>(value, isRecord, run, "its options are not an object"))
}

export function parseEvents(items: readonly Json[], run: string): AgentEvent[] {
  return items.map((item, position) => parseEvent(item, run, position))
}

export function parseEvent(item: Json, run: string, position: number): AgentEvent {
  return checkStored<AgentEvent>(item, isEvent, run, `item ${position} of its log is not an event`)
}

/** The events of a cycle under way. */
export interface UnsavedEvents {
  /** How many events are in the log before them. */
  stored: number
  events: AgentEvent[]
}

export function parseUnsavedEvents(value: Stored, run: string): UnsavedEvents {
  const isUnsaved = isObjectWith({ stored: isFiniteNumber, events: isListOf(isEvent) })
  return checkStored<UnsavedEvents>(value, isUnsaved, run, "the events of its cycle under way are not whole")
}

export function parseJournal(items: readonly Json[], run: string): JournalEntry[] {
  const what = (position: number) => `item ${position} of its journal is not an entry`
  return items.map((item, position) => checkStored<JournalEntry>(item, isJournalEntry, run, what(position)))
}

export function parseInboxMessage(item: Json, run: string): InboxMessage {
  return checkStored<InboxMessage>(item, isInboxMessage, run, "its inbox has something that is not a message")
}

/** The run id in a record that refers to a run. */
export function parseRunId(value: Stored, where: string): string {
  if (typeof value === "string" && value !== "") return value
  throw damagedRunError(where, "the record that leads to it is not the id of a run")
}

export interface KeyRecord {
  run: string
  session?: string
}

export function parseKeyRecord(value: Stored, key: string): KeyRecord {
  const isKeyRecord = isObjectWith({ run: isString }, { session: isString })
  return checkStored<KeyRecord>(
    value,
    isKeyRecord,
    `with the key "${key}"`,
    "the record of the key does not name a run",
  )
}

// The check proves the type.
function checkStored<T>(value: unknown, check: ShapeCheck, run: string, what: string): T {
  if (check(value)) return value as T
  throw damagedRunError(run, what)
}
