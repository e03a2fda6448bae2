// Requests one answer from the model: shortens the conversation if needed and runs the hooks around the request.
import { type PreparedRequest, runAfterModel, runBeforeModel, type Stop } from "../actions/run-hooks.ts"
import { ModelError } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import { type AssistantMessage, newId, userMessage } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import type { MemoryState } from "../memory.ts"
import { compact, estimateRequest, isFull, takeCompactionRequest, withMeasurement } from "../memory.ts"
import type { Model } from "../models/model.ts"
import type { Tool } from "../tools/tool.ts"
import type { CycleServices } from "./cycle.ts"
import { withPromptTimes } from "./prompt/system-prompt.ts"
import type { RunState } from "./run/run-state.ts"
import { type StreamedAnswer, streamAnswer, uniqueCallId } from "./stream-answer.ts"

/** An answer after the hooks around its request. */
export interface ReviewedAnswer extends StreamedAnswer {
  stop?: Stop | undefined
  /** The offered tools, if a hook changed them. */
  tools?: ReadonlyMap<string, Tool> | undefined
}

/** Sends the conversation, shortened if it is too long for the model. Never throws. */
export async function requestAnswer(
  state: RunState,
  services: CycleServices,
  emit: Emit,
): Promise<{ answer: ReviewedAnswer; memory: MemoryState }> {
  let { memory } = state
  const isRequested = takeCompactionRequest(state.tools)
  if (isRequested || isFull(memory, services)) {
    memory = (await compact(memory, services, emit, isRequested ? "asked" : "limit")).state
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
  const { messages, promptTimes, hooks } = services
  if (hooks.some((hook) => hook.beforeModel || hook.afterModel)) return sendRequestWithHooks(state, services, emit)
  return streamAnswer(services, withPromptTimes(messages, promptTimes), emit)
}

async function sendRequestWithHooks(state: RunState, services: CycleServices, emit: Emit): Promise<ReviewedAnswer> {
  try {
    return await runRequestHooks(state, services, emit)
  } catch (error) {
    return { usage: noUsage, error }
  }
}

async function runRequestHooks(state: RunState, services: CycleServices, emit: Emit): Promise<ReviewedAnswer> {
  const { hooks, caller, signal, messages, promptTimes } = services
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
  const hookedServices = {
    ...services,
    model: prepared.answer === undefined ? services.model : fixedAnswerModel(prepared.answer),
    request: { ...services.request, system: prepared.system, tools: prepared.tools },
    async review(parts: AssistantMessage["parts"], usage: Usage) {
      const reviewed = await runAfterModel({ cycle, parts, usage }, hooks, context)
      stop = reviewed.stop
      return reviewed.parts === parts ? parts : withFreshIds(reviewed.parts, parts, services.callIds)
    },
  }
  const answer = await streamAnswer(hookedServices, withPromptTimes(prepared.messages, promptTimes), emit)
  // The token count of a changed request says nothing about the length of the conversation.
  const changed = prepared.answer !== undefined || prepared.messages !== turn.messages || prepared.system !== system
  const counted = changed ? undefined : answer.counted
  return { ...answer, counted, stop, tools: toolsLeftByHooks(prepared, services) }
}

// A tool that a hook removed from the request may not be called by the answer.
function toolsLeftByHooks({ tools }: PreparedRequest, services: CycleServices): ReadonlyMap<string, Tool> | undefined {
  if (tools === services.request.tools) return undefined
  const names = new Set(tools.map(({ name }) => name))
  return new Map([...services.tools].filter(([name]) => names.has(name)))
}

// A call or cell that a hook added gets a new id. Only the first cell of an answer counts.
function withFreshIds(
  parts: AssistantMessage["parts"],
  original: AssistantMessage["parts"],
  seen: Set<string>,
): AssistantMessage["parts"] {
  const originalIds = new Set(original.flatMap((part) => ("id" in part ? [part.id] : [])))
  const cell = parts.find((part) => part.type === "code")
  return parts.flatMap((part): AssistantMessage["parts"] => {
    if (part.type !== "code" && part.type !== "tool-call") return [part]
    if (part.type === "code" && part !== cell) return []
    if (originalIds.delete(part.id)) return [part]
    return [{ ...part, id: part.type === "code" ? newId("c") : uniqueCallId(part.id, seen) }]
  })
}

function fixedAnswerModel(text: string): Model {
  return {
    id: "hook",
    async *stream() {
      yield { type: "text", text }
      yield { type: "finish", reason: "stop", usage: { input: 0, output: 0, complete: true } }
    },
  }
}
