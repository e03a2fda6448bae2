import { appendFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { AgentEvent, EventOf, Json } from "karst"
import type { StoreChange } from "karst/stores"
import { hashValue } from "../../../src/engine/journal/call-hash.ts"
import type { JournalEntry } from "../../../src/engine/journal/run-journal.ts"
import type { Marks } from "./kinds.ts"

/** One line of the ledger, in the order of what happened: a call took effect or a model was called; the start or the
 *  outcome of a call, or an answer of a model, was stored; the process was killed. */
export type Line =
  | { what: "call"; label: string; key?: string }
  | { what: "model" | "begun" | "done" | "answered" | "told"; label: string }
  | { what: "cycle" | "killed" }

export interface Ledger extends Marks {
  /** What a commit has stored. */
  committed(changes: readonly StoreChange[]): void
  killed(): void
}

export function openLedger(folder: string): Ledger {
  const write = (line: Line) => appendFileSync(fileIn(folder), `${JSON.stringify(line)}\n`)
  return {
    call: (label, key) => write({ what: "call", label, ...(key !== undefined && { key }) }),
    model: (label) => write({ what: "model", label }),
    committed: (changes) => linesOf(changes).forEach(write),
    killed: () => write({ what: "killed" }),
  }
}

/** What these changes store about calls, models and cycles. */
export function linesOf(changes: readonly StoreChange[]): Line[] {
  return changes.flatMap((change) => {
    if (change.type !== "append") return []
    if (change.log.endsWith("/journal")) return change.items.flatMap(entryLines)
    return change.log.endsWith("/events") ? [...eventLines(change.items as unknown as AgentEvent[])] : []
  })
}

function* eventLines(events: readonly AgentEvent[]): Generator<Line> {
  const models = new Map<string, string>()
  const calls = new Map<string, string>()
  for (const event of events) {
    if (event.type === "run-start") models.set(event.run, event.model ?? "")
    // The run itself began with an earlier commit. No model wrote the answer that a cell passed to `finish`.
    if (event.type === "message-end" && event.finish !== "cell")
      yield { what: "told", label: models.get(event.run) ?? "agent" }
    if (event.type === "memory-compacted" && event.tier === 2) yield { what: "told", label: "summariser" }
    if (event.type === "call-start" || event.type === "tool-start") calls.set(event.id, callLabel(event))
    // A call with an unknown outcome does not count as done.
    const isDone = (event.type === "call-end" || event.type === "tool-end") && event.ok
    if (isDone) yield { what: "done", label: calls.get(event.id) ?? "" }
  }
  if (events.some(({ type, parent }) => type === "cycle-end" && parent === undefined)) yield { what: "cycle" }
}

function entryLines(item: Json): Line[] {
  const entry = item as unknown as JournalEntry
  if (entry.type === "model") return [{ what: "answered", label: /model (\S+)#\d+$/.exec(entry.key)?.[1] ?? "" }]
  if (entry.type === "started") return [{ what: "begun", label: labelOf(entry.key) }]
  return entry.type === "done" || entry.type === "failed" ? [{ what: "done", label: labelOf(entry.key) }] : []
}

export function readLedger(folder: string): Line[] {
  const lines = readFileSync(fileIn(folder), "utf8").trim().split("\n")
  return lines.filter(Boolean).map((line): Line => JSON.parse(line))
}

/** As the scripts have it: all of their calls have one number. */
export function callLabel(event: EventOf<"call-start" | "tool-start">): string {
  if (event.type === "call-start") return `${event.call.binding}(${event.call.args})`
  return `${event.name}(${Object.values(event.input ?? {}).join()})`
}

const fileIn = (folder: string) => join(folder, "ledger.jsonl")

// The journal knows arguments by their hash.
const amounts = new Map(
  Array.from({ length: 20 }, (_, amount) => [
    [hashValue([amount]), amount] as const,
    [hashValue([{ amount }]), amount] as const,
  ]).flat(),
)

function labelOf(key: string): string {
  const [, name, hash = ""] = /(\w+)\(([^()]+)\)#\d+$/.exec(key) ?? []
  const amount = amounts.get(hash)
  if (amount === undefined) throw new Error(`No call of the script is known as "${key}".`)
  return `${name}(${amount})`
}
