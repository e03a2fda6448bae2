import { type Prepared, runAfterModel, runBeforeModel, type Stop } from "../actions/run-hooks.ts"
import { ModelError } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import { type AssistantMessage, newId, userMessage } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import { compact, compactionAsked, estimateRequest, isFull, type MemoryState, measured } from "../memory.ts"
import type { Model } from "../models/model.ts"
import type { Tool } from "../tools/tool.ts"
import type { CycleServices } from "./cycle.ts"
import { withClock } from "./prompt.ts"
import type { State } from "./state.ts"
import { freshId, type Thought, think } from "./think.ts"

/** An answer, and what hooks had to say about it. */
export interface Answer extends Thought {
  /** A hook stops the run here. */
  stop?: Stop | undefined
  /** What the model was offered, where a hook changed that. */
  tools?: ReadonlyMap<string, Tool> | undefined
}

/** Sends the conversation, made shorter where it is too long for the model. Never throws. */
export async function ask(
  state: State,
  services: CycleServices,
  emit: Emit,
): Promise<{ answer: Answer; memory: MemoryState }> {
  let { memory } = state
  const asked = compactionAsked(state.tools)
  if (asked || isFull(memory, services)) {
    memory = (await compact(memory, services, emit, asked ? "asked" : "limit")).state
  }
  let estimate = estimateRequest(services)
  let answer = await request(state, services, emit)
  if (isOverflow(answer)) {
    const { state: shorter, changed } = await compact(memory, services, emit, "overflow")
    memory = shorter
    estimate = estimateRequest(services)
    if (changed) answer = await request(state, services, emit)
  }
  services.spend(answer.usage)
  return { answer, memory: measured(memory, answer.counted, estimate) }
}

function isOverflow({ message, error }: Thought): boolean {
  return !message && error instanceof ModelError && error.code === "context-overflow"
}

function request(state: State, services: CycleServices, emit: Emit): Promise<Answer> {
  const { messages, clock, hooks } = services
  if (hooks.some((hook) => hook.beforeModel || hook.afterModel)) return hookedRequest(state, services, emit)
  return think(services, withClock(messages, clock), emit)
}

async function hookedRequest(state: State, services: CycleServices, emit: Emit): Promise<Answer> {
  try {
    return await requestByHooks(state, services, emit)
  } catch (error) {
    return { usage: noUsage, error }
  }
}

async function requestByHooks(state: State, services: CycleServices, emit: Emit): Promise<Answer> {
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
    model: prepared.answer === undefined ? services.model : saying(prepared.answer),
    request: { ...services.request, system: prepared.system, tools: prepared.tools },
    async review(parts: AssistantMessage["parts"], usage: Usage) {
      const reviewed = await runAfterModel({ cycle, parts, usage }, hooks, context)
      stop = reviewed.stop
      return reviewed.parts === parts ? parts : withOwnIds(reviewed.parts, parts, services.callIds)
    },
  }
  const thought = await think(asking, withClock(prepared.messages, clock), emit)
  // What was counted for another request than the conversation says nothing about its length.
  const changed = prepared.answer !== undefined || prepared.messages !== turn.messages || prepared.system !== system
  const counted = changed ? undefined : thought.counted
  return { ...thought, counted, stop, tools: offeredBy(prepared, services) }
}

// What a hook has taken out of a request may not be called by its answer either.
function offeredBy({ tools }: Prepared, services: CycleServices): ReadonlyMap<string, Tool> | undefined {
  if (tools === services.request.tools) return undefined
  const names = new Set(tools.map(({ name }) => name))
  return new Map([...services.tools].filter(([name]) => names.has(name)))
}

// A call or cell that came in by a hook gets an id of its own; only the first cell of an answer is one.
function withOwnIds(
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
    return [{ ...part, id: part.type === "code" ? newId("c") : freshId(part.id, seen) }]
  })
}

/** A model that says what a hook said in its place. */
function saying(text: string): Model {
  return {
    id: "hook",
    async *stream() {
      yield { type: "text", text }
      yield { type: "finish", reason: "stop", usage: { input: 0, output: 0, complete: true } }
    },
  }
}
