import { type PreparedRequest, runAfterModel, runBeforeModel, type Stop } from "../actions/run-hooks.ts"
import { ModelError } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import { type AssistantMessage, newId, userMessage } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import {
  compact,
  estimateRequest,
  isFull,
  type MemoryState,
  takeCompactionRequest,
  withMeasurement,
} from "../memory.ts"
import type { Model } from "../models/model.ts"
import type { Tool } from "../tools/tool.ts"
import type { CycleServices } from "./cycle.ts"
import { withCurrentTime } from "./prompt/system-prompt.ts"
import type { RunState } from "./run/run-state.ts"
import { type StreamedAnswer, streamAnswer, uniqueCallId } from "./stream-answer.ts"

/** An answer, and what hooks had to say about it. */
export interface ReviewedAnswer extends StreamedAnswer {
  /** A hook stops the run here. */
  stop?: Stop | undefined
  /** What the model was offered, where a hook changed that. */
  tools?: ReadonlyMap<string, Tool> | undefined
}

/** Sends the conversation, made shorter where it is too long for the model. Never throws. */
export async function requestAnswer(
  state: RunState,
  services: CycleServices,
  emit: Emit,
): Promise<{ answer: ReviewedAnswer; memory: MemoryState }> {
  let { memory } = state
  const asked = takeCompactionRequest(state.tools)
  if (asked || isFull(memory, services)) {
    memory = (await compact(memory, services, emit, asked ? "asked" : "limit")).state
  }
  let estimate = estimateRequest(services)
  let answer = await sendRequest(state, services, emit)
  if (isOverflow(answer)) {
    const { state: shorter, changed } = await compact(memory, services, emit, "overflow")
    memory = shorter
    estimate = estimateRequest(services)
    if (changed) answer = await sendRequest(state, services, emit)
  }
  services.spend(answer.usage)
  return { answer, memory: withMeasurement(memory, answer.counted, estimate) }
}

function isOverflow({ message, error }: StreamedAnswer): boolean {
  return !message && error instanceof ModelError && error.code === "context-overflow"
}

function sendRequest(state: RunState, services: CycleServices, emit: Emit): Promise<ReviewedAnswer> {
  const { messages, clock, hooks } = services
  if (hooks.some((hook) => hook.beforeModel || hook.afterModel)) return sendRequestWithHooks(state, services, emit)
  return streamAnswer(services, withCurrentTime(messages, clock), emit)
}

async function sendRequestWithHooks(state: RunState, services: CycleServices, emit: Emit): Promise<ReviewedAnswer> {
  try {
    return await runRequestHooks(state, services, emit)
  } catch (error) {
    return { usage: noUsage, error }
  }
}

async function runRequestHooks(state: RunState, services: CycleServices, emit: Emit): Promise<ReviewedAnswer> {
  const { hooks, caller, signal, messages, clock } = services
  const { system, tools = [] } = services.request
  const cycle = state.cycle + 1
  const context = { ...caller, signal }
  const turn = { cycle, system, messages: messages.slice(), tools, usage: state.usage }
  const prepared = await runBeforeModel(turn, hooks, context, (note) => {
    const message = userMessage(note, "host")
    emit({ type: "prompt-steered", message })
    return message
  })
  if (prepared.stop) return { usage: noUsage, stop: prepared.stop }
  let stop: Stop | undefined
  const asking = {
    ...services,
    model: prepared.answer === undefined ? services.model : fixedAnswerModel(prepared.answer),
    request: { ...services.request, system: prepared.system, tools: prepared.tools },
    async review(parts: AssistantMessage["parts"], usage: Usage) {
      const reviewed = await runAfterModel({ cycle, parts, usage }, hooks, context)
      stop = reviewed.stop
      return reviewed.parts === parts ? parts : withFreshIds(reviewed.parts, parts, services.callIds)
    },
  }
  const thought = await streamAnswer(asking, withCurrentTime(prepared.messages, clock), emit)
  // What was counted for another request than the conversation says nothing about its length.
  const changed = prepared.answer !== undefined || prepared.messages !== turn.messages || prepared.system !== system
  const counted = changed ? undefined : thought.counted
  return { ...thought, counted, stop, tools: toolsLeftByHooks(prepared, services) }
}

// What a hook has taken out of a request may not be called by its answer either.
function toolsLeftByHooks({ tools }: PreparedRequest, services: CycleServices): ReadonlyMap<string, Tool> | undefined {
  if (tools === services.request.tools) return undefined
  const names = new Set(tools.map(({ name }) => name))
  return new Map([...services.tools].filter(([name]) => names.has(name)))
}

// A call or cell that came in by a hook gets an id of its own; only the first cell of an answer is one.
function withFreshIds(
  given: AssistantMessage["parts"],
  before: AssistantMessage["parts"],
  seen: Set<string>,
): AssistantMessage["parts"] {
  const own = new Set(before.flatMap((part) => ("id" in part ? [part.id] : [])))
  const cell = given.find((part) => part.type === "code")
  return given.flatMap((part): AssistantMessage["parts"] => {
    if (part.type !== "code" && part.type !== "tool-call") return [part]
    if (part.type === "code" && part !== cell) return []
    if (own.delete(part.id)) return [part]
    return [{ ...part, id: part.type === "code" ? newId("c") : uniqueCallId(part.id, seen) }]
  })
}

/** A model that says what a hook said in its place. */
function fixedAnswerModel(text: string): Model {
  return {
    id: "hook",
    async *stream() {
      yield { type: "text", text }
      yield { type: "finish", reason: "stop", usage: { input: 0, output: 0, complete: true } }
    },
  }
}
