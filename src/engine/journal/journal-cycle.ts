// The entries of a journal, and the state of one cycle that is read from them.
import type { CallPreview } from "../../core/event.ts"
import { addUsage, noUsage, type Usage } from "../../core/usage.ts"
import { decodeError, type StoredError } from "../../sessions/outcome-codec.ts"
import { decodeValue, type StoredValue } from "../../sessions/value-codec.ts"
import type { StateChanges } from "../../tools/tool-state.ts"
import type { CellClock } from "./cell-clock.ts"
import { createCompletionOrder } from "./completion-order.ts"
import type { RecordedAnswer } from "./journaled-model.ts"

/** One entry of a run's journal. A call is `started` before it is made, unless it is idempotent. */
export type JournalEntry =
  | ({ type: "model"; key: string } & RecordedAnswer)
  | { type: "started"; key: string; call: CallPreview }
  // Without a value: it could not be stored, so it is unknown.
  | { type: "done"; key: string; value?: StoredValue; state?: StateChanges }
  | { type: "failed"; key: string; error: StoredError; state?: StateChanges }
  | { type: "time"; key: string; reads: number[] }
  // The cycle failed here and is retried: failed answers before it are dropped, so the model is called again.
  | { type: "retry"; key: string }

interface PastCall {
  key: string
  name: string
  /** Absent if only the outcome was recorded, as for idempotent calls. */
  call?: CallPreview
  outcome?: { position: number; replay(): unknown }
  /** Its changes of the tool state. */
  state?: StateChanges | undefined
}

/** The state of one cycle, read from its entries. `diverged` is called if its calls come in another order. */
export function createCycle(entries: readonly JournalEntry[], diverged: (what: string) => void, number: number) {
  const calls = new Map<string, PastCall>()
  const answers = new Map<string, RecordedAnswer>()
  const reads = new Map<string, number[]>()
  let lostUsage = noUsage
  let position = 0
  for (const entry of entries) {
    const { key } = entry
    if (entry.type === "retry") lostUsage = addUsage(lostUsage, forgetFailedAnswers(answers))
    else if (entry.type === "model") answers.set(key, entry)
    else if (entry.type === "time") reads.set(key, [...(reads.get(key) ?? []), ...entry.reads])
    else if (entry.type === "started") calls.set(key, { key, name: previewName(entry.call), call: entry.call })
    else {
      const past = calls.get(key) ?? { key, name: key }
      past.state = entry.state
      if (entry.type === "failed" || entry.value)
        past.outcome = { position: position++, replay: () => replayEntry(entry) }
      calls.set(key, past)
    }
  }
  const order = createCompletionOrder(() => diverged("calls are asked for in another order than before"))
  const clocks = new Map<string, CellClock>()
  const [asked, made] = [new Set<string>(), new Set<string>()]
  return { number, calls, answers, lostUsage, reads, order, clocks, ordinals: new Map<string, number>(), asked, made }
}

// Only the last answers of the run itself are dropped. An earlier failure that the run handled must be replayed.
// Returns what the dropped answers have used.
function forgetFailedAnswers(answers: Map<string, RecordedAnswer>): Usage {
  let used = noUsage
  for (const [key, { error, usage }] of [...answers].filter(([key]) => !key.includes("/model ")).toReversed()) {
    if (!error) break
    answers.delete(key)
    if (usage) used = addUsage(used, usage)
  }
  return used
}

function replayEntry(entry: Extract<JournalEntry, { type: "done" | "failed" }>): unknown {
  if (entry.type === "done") return decodeValue(entry.value ?? {})
  throw decodeError(entry.error)
}

function previewName({ binding, method }: CallPreview): string {
  return method === undefined ? binding : `${binding}.${method}`
}
