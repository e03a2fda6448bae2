import assert from "node:assert/strict"
import { type AgentEvent, messageText } from "karst"
import { mayRepeat } from "./kinds.ts"
import { callLabel, type Line } from "./ledger.ts"
import type { Told } from "./program.ts"

export interface Outcome {
  told: Told
  ledger: readonly Line[]
}

/** Checks a run without a kill: every call was made once and is in the journal. */
export function checkUndisturbed({ told, ledger }: Outcome): void {
  assert.equal(told.status, "done", JSON.stringify(told.error))
  checkStory("undisturbed", told.events)
  for (const label of labelsOf(ledger, "call")) {
    assert.equal(count(ledger, "call", label), 1, label)
    assert.ok(count(ledger, "done", label) > 0, label)
  }
  for (const id of labelsOf(ledger, "model")) assert.equal(count(ledger, "told", id), count(ledger, "model", id), id)
  assert.deepEqual([...unknownIn(told.events)], [])
  checkAnswersFirst("undisturbed", ledger)
}

/** Processes were killed and another went on: no call that was complete was made again, none was lost, and the story is
 *  the one it would have been. */
export function checkRecovered(where: string, baseline: Outcome, { told, ledger }: Outcome): void {
  assert.equal(told.status, "done", `${where}: ${JSON.stringify(told.error)}`)
  assert.equal(told.output, baseline.told.output, where)
  checkStory(where, told.events)
  checkAnswersFirst(where, ledger)
  const notices = told.events.filter(isNotice).length
  const kills = ledger.filter(({ what }) => what === "killed").length
  assert.ok(notices <= kills, `${where}: ${notices} notices of ${kills} interruptions`)
  assert.deepEqual(tally(told.events), tally(baseline.told.events), `${where}: another story`)
  const before = ledger.slice(
    0,
    ledger.findLastIndex(({ what }) => what === "killed"),
  )
  const unknown = unknownIn(told.events)
  for (const label of labelsOf(baseline.ledger, "call")) checkCall(`${where}: ${label}`, label, before, ledger, unknown)
  assert.deepEqual(labelsOf(ledger, "call").difference(labelsOf(baseline.ledger, "call")), new Set(), where)
  for (const id of labelsOf(baseline.ledger, "model")) checkModel(`${where}: model ${id}`, id, baseline, before, ledger)
}

function checkCall(
  where: string,
  label: string,
  before: readonly Line[],
  all: readonly Line[],
  unknown: ReadonlySet<string>,
): void {
  const made = count(before, "call", label)
  const total = count(all, "call", label)
  const keys = new Set(all.flatMap((line) => (line.what === "call" && line.label === label ? [line.key] : [])))
  assert.ok(keys.size <= 1, `${where}: other idempotency keys: ${[...keys].join(" ")}`)
  assert.ok(made <= 1 || mayRepeat.test(label), `${where}: made twice before the last crash`)
  if (count(before, "done", label) > 0) {
    assert.equal(total, made, `${where}: was complete, and made again`)
    assert.ok(made > 0, `${where}: complete without having been made`)
    assert.ok(!unknown.has(label), `${where}: was complete, and told to be unknown`)
  } else if (mayRepeat.test(label)) {
    assert.equal(total, made + 1, `${where}: to be made again`)
  } else if (count(before, "begun", label) > 0) {
    assert.equal(total, made, `${where}: begun, and made again`)
    assert.ok(unknown.has(label), `${where}: begun, and nobody was told that it is unknown`)
  } else {
    assert.equal(made, 0, `${where}: made, and the journal does not know that it was begun`)
    assert.equal(total, 1, `${where}: lost`)
    assert.ok(!unknown.has(label), `${where}: never begun, and told to be unknown`)
  }
}

// An answer that was stored is not asked for again: by itself while its cycle is under way, then in the story.
function checkModel(where: string, id: string, baseline: Outcome, before: readonly Line[], all: readonly Line[]): void {
  const cycle = before.slice(before.findLastIndex(({ what }) => what === "cycle") + 1)
  const unanswered = count(before, "model", id) - count(before, "told", id) - count(cycle, "answered", id)
  assert.ok(unanswered >= 0, where)
  assert.equal(count(all, "model", id), count(baseline.ledger, "model", id) + unanswered, where)
}

// A model may say something else the next time, so nothing is done before what it said is stored.
function checkAnswersFirst(where: string, ledger: readonly Line[]): void {
  let answers = 0
  for (const line of ledger) {
    if (line.what === "cycle") answers = 0
    if (line.what === "answered" && line.label !== "summariser") answers++
    if (line.what === "call") assert.ok(answers > 0, `${where}: ${line.label} was made before its answer was stored`)
  }
}

function checkStory(where: string, events: readonly AgentEvent[]): void {
  for (const run of new Set(events.map(({ run }) => run))) {
    const seqs = events.filter((event) => event.run === run).map(({ seq }) => seq)
    const inOrder = seqs.toSorted((a, b) => a - b)
    assert.deepEqual(seqs, [...new Set(inOrder)], `${where}: the numbers of the events of ${run}`)
  }
  for (const event of events) {
    if (event.type === "warning-raised") assert.notEqual(event.code, "journal-diverged", `${where}: ${event.message}`)
    if (event.type === "code-end") assert.ok(event.ok, `${where}: ${event.text}`)
  }
}

/** Returns true if the event reports to the model that the run was interrupted. */
function isNotice(event: AgentEvent): boolean {
  return event.type === "prompt-steered" && messageText(event.message).startsWith("This run was interrupted")
}

/** The number of events of each type that reports work. */
function tally(events: readonly AgentEvent[]): Record<string, number> {
  const kinds: readonly string[] = [
    "run-start",
    "run-end",
    "cycle-start",
    "cycle-end",
    "message-end",
    "code-end",
    "tool-end",
    "call-end",
    "question-asked",
    "prompt-steered",
    "memory-compacted",
  ]
  const counted = events.filter((event) => !isNotice(event))
  return Object.fromEntries(kinds.map((kind) => [kind, counted.filter(({ type }) => type === kind).length]))
}

/** The calls that were reported to the model as unknown. */
function unknownIn(events: readonly AgentEvent[]): Set<string> {
  const labels = new Map<string, string>()
  const unknown = new Set<string>()
  for (const event of events) {
    if (event.type === "call-start" || event.type === "tool-start") labels.set(event.id, callLabel(event))
    if (event.type !== "call-end" && event.type !== "tool-end") continue
    if (!event.ok && /interruption/.test(JSON.stringify(event))) unknown.add(labels.get(event.id) ?? event.id)
  }
  return unknown
}

function labelsOf(ledger: readonly Line[], what: "call" | "model"): Set<string> {
  return new Set(ledger.flatMap((line) => (line.what === what ? [line.label] : [])))
}

function count(ledger: readonly Line[], what: Line["what"], label: string): number {
  return ledger.filter((line) => line.what === what && "label" in line && line.label === label).length
}
