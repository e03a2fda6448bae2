// Folds the events of runs into a readable record: messages, runs, usage and times.
import type { ErrorData } from "./errors.ts"
import type { AgentEvent, EventOf, Metadata, Pending, Status, StopReason } from "./event.ts"
import { isDelta } from "./event.ts"
import type { CodeResultPart, Message, ResultMessage, ToolResultPart } from "./message.ts"
import { addUsage, noUsage, type Usage } from "./usage.ts"
import { deepFreeze } from "./values/freeze.ts"

/** The record of a run or session as plain JSON. */
export interface Trajectory {
  version: 1
  agent: string
  system: string
  metadata: Metadata
  runs: RunRecord[]
  messages: Message[]
  usage: Usage
  startedAt: number
  endedAt?: number
  /** The id of the session, if this is a session's record. */
  session?: string
  /** When the session was closed. */
  completedAt?: number
  /** Set if the last run failed because the account's limit was reached. It can continue later. */
  usageLimited?: true
  /** All stored events, including those of sub-agents; without deltas. */
  events: AgentEvent[]
}

export interface RunRecord {
  id: string
  status?: Status
  output?: string
  reason?: StopReason
  detail?: string
  pending?: Pending
  error?: ErrorData
  cycles: number
  usage: Usage
  metadata: Metadata
  startedAt: number
  endedAt?: number
  /** The model that answered last and, for a coding CLI, the provider. */
  model?: string
  provider?: string
}

/** Folds events into a record. Deltas are ignored. Events of child runs are included but not folded. */
export function trajectory(events: Iterable<AgentEvent>): Trajectory {
  const record: Trajectory = {
    version: 1,
    agent: "",
    system: "",
    metadata: {},
    runs: [],
    messages: [],
    usage: noUsage,
    startedAt: 0,
    events: [],
  }
  const runs = new Map<string, RunRecord>()
  const isOwn = createOwnEventFilter()
  for (const event of events) {
    if (isDelta(event)) continue
    record.events.push(event)
    if (!isOwn(event)) continue
    foldMessages(record.messages, event)
    if (event.type === "run-start") addRun(record, runs, event)
    if (event.type === "message-end") setModel(runs.get(event.run), event)
    if (event.type === "cycle-end") addCycleUsage(runs.get(event.run), event)
    if (event.type === "run-end") closeRun(record, runs, event)
  }
  // If a run has no end, its usage is that of its cycles plus an unknown amount.
  for (const { status, usage } of record.runs) {
    if (status === undefined) record.usage = addUsage(record.usage, { ...usage, complete: false })
  }
  return record
}

/** Creates a filter that accepts events of the log's own runs and rejects those of their child runs. It must see
 *  every event in order. `earlier` are runs whose first events are not in the log. */
export function createOwnEventFilter(earlier: Iterable<string> = []): (event: AgentEvent) => boolean {
  const known = new Set(earlier)
  return ({ run, parent }) => {
    known.add(run)
    return parent === undefined || !known.has(parent)
  }
}

/** Applies one event to the conversation, in place. Messages are added in no other way. */
export function foldMessages(messages: Message[], event: AgentEvent): void {
  switch (event.type) {
    case "run-start":
    case "skill-activated":
      messages.push(...event.messages)
      return
    case "message-end":
      messages.push(event.message)
      return
    case "prompt-steered":
      messages.push(event.message)
      return
    case "code-end":
      messages.push(result(event, codeResult(event)))
      return
    case "tool-end": {
      const added = result(event, toolResult(event))
      if (messages.at(-1)?.role !== "result") {
        messages.push(added)
        return
      }
      const positions = callPositions(messages)
      messages.splice(resultIndex(event.id, messages), 0, added)
      if (positions) positionsOf.set(added, positions)
      return
    }
    case "memory-compacted": {
      // The record of a single run of a session lacks earlier messages.
      const from = Math.max(0, indexOf(messages, event.from))
      const to = event.to === undefined ? messages.length : Math.max(from, indexOf(messages, event.to))
      messages.splice(from, to - from, ...event.messages)
      return
    }
  }
}

/** The index at which a tool result belongs: results follow the answer with the calls, in the order of the calls.
 *  Parallel calls may end in another order. */
function resultIndex(call: string, messages: readonly Message[]): number {
  const positions = callPositions(messages)
  const position = positions?.get(call)
  let index = messages.length
  if (positions === undefined || position === undefined) return index
  for (let at = index - 1; messages[at]?.role === "result"; at--) {
    const [part] = messages[at]?.parts ?? []
    const other = part?.type === "tool-result" ? positions.get(part.id) : undefined
    if (other !== undefined && other <= position) break
    if (other !== undefined) index = at
  }
  return index
}

/** The position of each call in the newest answer. It is stored with the answer and with its last result, because an
 *  answer may have thousands of calls. */
function callPositions(messages: readonly Message[]): ReadonlyMap<string, number> | undefined {
  const newest = messages.at(-1)
  const known = newest && positionsOf.get(newest)
  if (known) return known
  const answer = messages.findLast(({ role }) => role !== "result")
  if (!newest || !answer) return undefined
  const ids = answer.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
  const positions = positionsOf.get(answer) ?? new Map(ids.map((id, index) => [id, index] as const).reverse())
  positionsOf.set(answer, positions)
  positionsOf.set(newest, positions)
  return positions
}

const positionsOf = new WeakMap<Message, ReadonlyMap<string, number>>()

function indexOf(messages: readonly Message[], id: string): number {
  return messages.findIndex((message) => message.id === id)
}

function codeResult({ id, ok, text, kept }: EventOf<"code-end">): CodeResultPart {
  return { type: "code-result", id, ok, text, ...(kept !== undefined && { kept }) }
}

function toolResult({ id, name, ok, text, kept, retained }: EventOf<"tool-end">): ToolResultPart {
  return {
    type: "tool-result",
    id,
    name,
    ok,
    text,
    ...(kept !== undefined && { kept }),
    ...(retained && { retained }),
  }
}

function result(event: EventOf<"code-end" | "tool-end">, part: ResultMessage["parts"][number]): ResultMessage {
  return deepFreeze({ id: `r_${event.id}`, role: "result", parts: [part, ...(event.images ?? [])] })
}

function addRun(record: Trajectory, runs: Map<string, RunRecord>, event: EventOf<"run-start">): void {
  if (record.runs.length === 0) {
    record.agent = event.agent
    record.startedAt = event.at
  }
  if (event.system !== undefined) record.system = event.system
  record.metadata = { ...record.metadata, ...event.metadata }
  const { model } = event
  const about = { id: event.run, cycles: 0, usage: noUsage, metadata: event.metadata, startedAt: event.at }
  const run = model === undefined ? about : { ...about, model }
  runs.set(event.run, run)
  record.runs.push(run)
}

function setModel(run: RunRecord | undefined, { model, provider }: EventOf<"message-end">): void {
  if (run && model !== undefined) run.model = model
  if (run && provider !== undefined) run.provider = provider
}

function addCycleUsage(run: RunRecord | undefined, { usage }: EventOf<"cycle-end">): void {
  if (run) run.usage = addUsage(run.usage, usage)
}

function closeRun(record: Trajectory, runs: Map<string, RunRecord>, event: EventOf<"run-end">): void {
  const run = runs.get(event.run)
  if (!run) return
  const { status, output, cycles, usage, reason, detail, pending, error } = event
  Object.assign(run, { status, output, cycles, usage, endedAt: event.at })
  if (reason) run.reason = reason
  if (detail !== undefined) run.detail = detail
  if (pending) run.pending = pending
  if (error) run.error = error
  record.usage = addUsage(record.usage, usage)
  record.endedAt = event.at
  delete record.usageLimited
  if (isUsageLimit(error)) record.usageLimited = true
}

/** Returns true if a run failed because the account's limit is reached for now. */
export function isUsageLimit(error: ErrorData | undefined): true | undefined {
  return error?.code === "rate-limited" || error?.code === "billing" ? true : undefined
}
