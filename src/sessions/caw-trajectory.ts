// Reads trajectories that caw wrote: its turns become runs, its blocks become messages and tool calls.
import type { AgentEvent, EventBody } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { AssistantMessage, UserMessage } from "../core/message.ts"
import { isRecord } from "../core/object.ts"
import { type Trajectory, trajectory } from "../core/trajectory.ts"
import { addUsage, noUsage, type Usage } from "../core/usage.ts"

/** Returns the record of a caw trajectory, or undefined if the value is none. Missing fields are tolerated, as caw
 *  does. */
export function readCawTrajectory(value: unknown): Trajectory | undefined {
  if (!isCawTrajectory(value)) return undefined
  const events: AgentEvent[] = []
  addEvents(events, value, { name: textAt(value, "session_id") || "caw", uniqueId: createUniqueIds() })
  const completedAt = timeAt(value, "completed_at")
  return {
    ...trajectory(events),
    session: textAt(value, "session_id") || "unknown",
    ...(completedAt !== undefined && { completedAt }),
  }
}

type Fields = Record<string, unknown>

function isCawTrajectory(value: unknown): value is Fields {
  if (!isRecord(value) || "version" in value || !Array.isArray(value.turns)) return false
  return value.turns.every((turn) => isRecord(turn) && (turn.output === undefined || Array.isArray(turn.output)))
}

interface Origin {
  /** The beginning of the ids of the runs. */
  name: string
  /** Returns the id of a call, changed if another call has it: results are found by it. */
  uniqueId: (id: string) => string
  /** The run that started these, if they are those of a sub-agent. */
  parent?: string
  /** The time of the first event, if the trajectory does not tell. */
  startedAt?: number
}

/** Adds the events of all turns. Returns what they used, sub-agents included. */
function addEvents(events: AgentEvent[], caw: Fields, { name, parent, startedAt = 0, uniqueId }: Origin): Usage {
  const agent = textAt(caw, "agent") || "caw"
  const model = textAt(caw, "model")
  const system = textAt(caw, "system_prompt")
  const metadata = isRecord(caw.metadata) ? (caw.metadata as { [key: string]: Json }) : {}
  const turns = recordsIn(caw.turns)
  let total = noUsage
  let at = timeAt(caw, "created_at") ?? startedAt
  for (const [index, turn] of turns.entries()) {
    const run = `${name}-${index + 1}`
    let seq = 0
    const emit = (body: EventBody) =>
      void events.push({ ...body, run, seq: seq++, at, ...(parent !== undefined && { parent }) })
    emit({
      type: "run-start",
      agent,
      ...(model && { model }),
      messages: [userMessageOf(`${run}-prompt`, textAt(turn, "input"))],
      ...(index === 0 && system && { system }),
      metadata,
    })
    const messages = groupBlocks(recordsIn(turn.output))
    let usage = usageOf(turn.usage)
    for (const [cycle, blocks] of messages.entries()) {
      const ids = blocks.map((block, position) => {
        return isCall(block) ? uniqueId(textAt(block, "id") || `${run}-${cycle + 1}-${position + 1}`) : ""
      })
      emit({ type: "cycle-start", cycle })
      emit({
        type: "message-end",
        message: {
          id: `${run}-message-${cycle + 1}`,
          role: "assistant",
          parts: blocks.map((each, n) => partOf(each, ids[n])),
        },
        finish: blocks.some(isCall) ? "tool-calls" : "stop",
        usage: noUsage,
        ...(model && { model }),
        provider: agent,
      })
      for (const [position, block] of blocks.entries()) {
        if (!isCall(block)) continue
        const call = { id: ids[position] ?? "", name: textAt(block, "name") || "tool" }
        emit({ type: "tool-start", ...call, input: (block.arguments ?? {}) as Json })
        if (isCawTrajectory(block.subagent_trajectory)) {
          const child = { name: `${run}-${call.id}`, parent: run, startedAt: at, uniqueId }
          usage = addUsage(usage, addEvents(events, block.subagent_trajectory, child))
        }
        const ok = block.is_error !== true
        const text = typeof block.output === "string" ? block.output : JSON.stringify(block.output ?? "")
        const error = ok ? {} : { error: { kind: "throw" as const, message: text.slice(0, 500) } }
        emit({ type: "tool-end", ...call, ok, text, durationMs: 0, ...error })
      }
      emit({ type: "cycle-end", cycle, usage: cycle === messages.length - 1 ? usage : noUsage })
    }
    at += numberAt(turn, "duration_ms") ?? 0
    const isLast = index === turns.length - 1
    emit({
      type: "run-end",
      ...endOf(turn, isLast && caw.usage_limited === true),
      output: lastText(messages.flat()),
      cycles: messages.length,
      usage,
    })
    total = addUsage(total, usage)
  }
  return total
}

function createUniqueIds(): (id: string) => string {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  return (id) => {
    let unique = id
    for (let count = (counts.get(id) ?? 1) + 1; used.has(unique); count++) {
      unique = `${id}-${count}`
      counts.set(id, count)
    }
    used.add(unique)
    return unique
  }
}

function endOf(turn: Fields, isLimited: boolean): Pick<Extract<EventBody, { type: "run-end" }>, "status" | "error"> {
  const reason = textAt(turn, "failure_reason")
  if (!reason && !isLimited) return { status: "done" }
  const message = reason || "The usage limit of the account was reached."
  return { status: "failed", error: { name: "ProviderError", message, ...(isLimited && { code: "rate-limited" }) } }
}

/** Groups the blocks of a turn into messages: text and thoughts, then the calls that follow them. */
function groupBlocks(blocks: readonly Fields[]): Fields[][] {
  const groups: Fields[][] = []
  for (const block of blocks) {
    const last = groups.at(-1)
    const previous = last?.at(-1)
    if (!last || !previous || (isCall(previous) && !isCall(block))) groups.push([block])
    else last.push(block)
  }
  return groups
}

// caw reads a block of unknown type as a call.
function isCall({ type }: Fields): boolean {
  return type !== "text" && type !== "thinking"
}

function partOf(block: Fields, id = ""): AssistantMessage["parts"][number] {
  if (block.type === "text") return { type: "text", text: textAt(block, "text") }
  if (block.type === "thinking") return { type: "reasoning", text: textAt(block, "text") }
  return { type: "tool-call", id, name: textAt(block, "name") || "tool", input: (block.arguments ?? {}) as Json }
}

function lastText(blocks: readonly Fields[]): string {
  const last = blocks.findLast((block) => block.type === "text" && textAt(block, "text").trim() !== "")
  return last ? textAt(last, "text") : ""
}

function userMessageOf(id: string, text: string): UserMessage {
  return { id, role: "user", origin: "prompt", parts: [{ type: "text", text }] }
}

/** caw's input excludes what was read from or written to a cache; Karst's includes it. */
function usageOf(value: unknown): Usage {
  if (!isRecord(value)) return { complete: false }
  const [input, output] = [countAt(value, "input_tokens"), countAt(value, "output_tokens")]
  const [cacheRead, cacheWrite] = [countAt(value, "cache_read_tokens"), countAt(value, "cache_write_tokens")]
  const costUsd = numberAt(value, "cost_usd")
  // No request has 0 tokens: a CLI that reported nothing is recorded as 0.
  if (input + output + cacheRead + cacheWrite === 0) return { complete: false }
  return {
    input: input + cacheRead + cacheWrite,
    output,
    cacheRead,
    cacheWrite,
    ...(costUsd !== undefined && costUsd > 0 && { costUsd }),
    complete: true,
  }
}

function recordsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function textAt(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === "string" ? value : ""
}

function numberAt(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** A number of tokens; 0 if it is missing or negative. */
function countAt(fields: Fields, name: string): number {
  return Math.max(0, numberAt(fields, name) ?? 0)
}

function timeAt(fields: Fields, name: string): number | undefined {
  const time = Date.parse(textAt(fields, name))
  return Number.isNaN(time) ? undefined : time
}
