// User hooks around runs, model requests and cycles: their contract, how they run, and checks of what they return.
import { rejectOnAbort } from "../core/abort.ts"
import { isListOf, isObjectWith, isString } from "../core/checks/check-shape.ts"
import { isAnswerParts, isMessageList, isPromptParts } from "../core/checks/message-shape.ts"
import type { ErrorData } from "../core/errors.ts"
import { AgentError, errorData } from "../core/errors.ts"
import type { Pending, Status, StopReason } from "../core/event.ts"
import { copyIfJson } from "../core/json.ts"
import type { AssistantMessage, Message, Prompt, PromptPart } from "../core/message.ts"
import { isRecord, withoutUndefined } from "../core/object.ts"
import { outsideRuns } from "../core/run-context.ts"
import type { Usage } from "../core/usage.ts"
import { deepFreeze } from "../core/values/freeze.ts"
import type { ToolSpec } from "../models/model.ts"
import type { HookContext } from "./hooks.ts"

/** User code around a run, each model request and each cycle. Runs that it starts are not child runs. */
export interface RunHooks {
  /** Called before the model gets the prompt. Returns nothing to start the run, another `prompt`, or a reason to
   *  `stop`: then the model never sees the prompt, also not later in the session. */
  beforeRun?(start: RunStart, context: HookContext): BeforeRun | Promise<BeforeRun>
  /** Called when the run has ended, whatever its status. Returns nothing to leave the result as it is, another
   *  `output`, or a reason to withhold the output: a run that was done is then stopped. */
  afterRun?(end: RunEnding, context: HookContext): AfterRun | Promise<AfterRun>
  /** Called before each request. Returns nothing to leave it as it is; other `system`, `messages` or `tools` for this
   *  request only; a `note`, which is added to the conversation; an `answer` instead of the model's; or a reason to
   *  `stop`. A tool that is not offered cannot be called. */
  beforeModel?(turn: ModelTurn, context: HookContext): BeforeModel | Promise<BeforeModel>
  /** Called with each answer before it is stored and acted on. Returns nothing to leave it as it is, other `parts`, or
   *  a reason to `stop`: then none of its actions run. */
  afterModel?(answer: ModelAnswer, context: HookContext): AfterModel | Promise<AfterModel>
  /** Called after each cycle, when all its actions have results. Returns nothing to continue, a text to `steer` with,
   *  which also rejects an answer or a question, or a reason to `stop`. It cannot end a run as done. */
  afterCycle?(cycle: CycleEnding, context: HookContext): AfterCycle | Promise<AfterCycle>
}

/** Ends the run as `stopped`, with this reason and text. */
export interface Stop {
  stop: string
  /** Default `hook`. */
  reason?: "hook" | "guardrail" | undefined
}

export interface RunStart {
  prompt: readonly PromptPart[]
  messages: readonly Message[]
}

export interface RunEnding {
  status: Status
  output: string
  reason?: StopReason | undefined
  pending?: Pending | undefined
  error?: ErrorData | undefined
  cycles: number
  usage: Usage
  messages: readonly Message[]
}

export interface ModelTurn {
  /** The number of the cycle, from 1. */
  cycle: number
  system: string
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  usage: Usage
}

export interface ModelAnswer {
  cycle: number
  parts: AssistantMessage["parts"]
  usage: Usage
}

export interface CycleEnding {
  cycle: number
  /** What happens next unless the hook changes it. */
  next: "continue" | "done" | "waiting"
  /** The answer if the run is done, otherwise the last text of the model. */
  output: string
  usage: Usage
  messages: readonly Message[]
}

// biome-ignore-start lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common one.
export type BeforeRun = void | undefined | { prompt: Prompt } | Stop
export type AfterRun = void | undefined | { output: string } | Stop
export type BeforeModel =
  | void
  | undefined
  | {
      system?: string | undefined
      messages?: readonly Message[] | undefined
      tools?: readonly ToolSpec[] | undefined
      note?: string | undefined
    }
  | { answer: string }
  | Stop
export type AfterModel = void | undefined | { parts: AssistantMessage["parts"] } | Stop
export type AfterCycle = void | undefined | { steer: string } | Stop
// biome-ignore-end lint/suspicious/noConfusingVoidType: see above.

/** Runs the `beforeRun` hooks. Returns the changed prompt or the stop, or undefined if nothing changed. */
export async function runBeforeRun(
  start: RunStart,
  hooks: readonly RunHooks[],
  context: HookContext,
): Promise<{ prompt: Prompt } | Stop | undefined> {
  let changed: { prompt: Prompt } | undefined
  for (const hook of hooks) {
    if (!hook.beforeRun) continue
    const seen = changed ? { ...start, prompt: partsOf(changed.prompt) } : start
    const change = await callHook("beforeRun", () => hook.beforeRun?.(deepFreeze(seen), context), context.signal)
    if (change && "stop" in change) return change
    if (change) changed = change
  }
  return changed
}

/** Runs the `afterRun` hooks. The run's signal does not interrupt them: an aborted run has a result too. */
export async function runAfterRun(
  end: RunEnding,
  hooks: readonly RunHooks[],
  context: HookContext,
): Promise<{ output: string } | Stop | undefined> {
  let changed: { output: string } | undefined
  for (const hook of hooks) {
    if (!hook.afterRun) continue
    const seen = changed ? { ...end, ...changed } : end
    const change = await callHook("afterRun", () => hook.afterRun?.(deepFreeze(seen), context))
    if (change && "stop" in change) return change
    if (change) changed = change
  }
  return changed
}

export interface PreparedRequest extends Pick<ModelTurn, "system" | "messages" | "tools"> {
  answer?: string | undefined
  stop?: Stop | undefined
}

/** Runs the `beforeModel` hooks. `remember` adds a note to the conversation and returns its message. */
export async function runBeforeModel(
  turn: ModelTurn,
  hooks: readonly RunHooks[],
  context: HookContext,
  remember: (note: string) => Message,
): Promise<PreparedRequest> {
  let request = turn
  for (const hook of hooks) {
    if (!hook.beforeModel) continue
    const change = await callHook("beforeModel", () => hook.beforeModel?.(deepFreeze(request), context), context.signal)
    if (!change) continue
    if ("stop" in change) return { ...request, stop: change }
    if ("answer" in change) return { ...request, answer: change.answer }
    const { system = request.system, tools = request.tools, note } = change
    const messages = change.messages ?? request.messages
    request = { ...request, system, tools, messages: note === undefined ? messages : [...messages, remember(note)] }
  }
  return request
}

export async function runAfterModel(
  answer: ModelAnswer,
  hooks: readonly RunHooks[],
  context: HookContext,
): Promise<{ parts: AssistantMessage["parts"]; stop?: Stop }> {
  let { parts } = answer
  for (const hook of hooks) {
    if (!hook.afterModel) continue
    const seen = { ...answer, parts }
    const change = await callHook("afterModel", () => hook.afterModel?.(deepFreeze(seen), context), context.signal)
    if (change && "stop" in change) return { parts, stop: change }
    // The conversation gets a copy, because the hook may change its own objects later.
    if (change) parts = change.parts.map((part) => (parts.includes(part) ? part : (copyIfJson(part) ?? part)))
  }
  return { parts }
}

export async function runAfterCycle(
  cycle: CycleEnding,
  hooks: readonly RunHooks[],
  context: HookContext,
): Promise<{ steer: string[]; stop?: Stop }> {
  const steer: string[] = []
  for (const hook of hooks) {
    if (!hook.afterCycle) continue
    const seen: CycleEnding = steer.length > 0 ? { ...cycle, next: "continue" } : cycle
    const change = await callHook("afterCycle", () => hook.afterCycle?.(deepFreeze(seen), context), context.signal)
    if (change && "stop" in change) return { steer, stop: change }
    if (change) steer.push(change.steer)
  }
  return { steer }
}

// The members that each hook may return. An unknown key is as much a mistake as a wrong value.
const hookResultShapes = {
  beforeRun: { prompt: isPrompt, stop: isString, reason: isStopReason },
  afterRun: { output: isString, stop: isString, reason: isStopReason },
  beforeModel: {
    system: isString,
    messages: isMessageList,
    tools: isListOf(isObjectWith({ name: isString, description: isString, input: isRecord })),
    note: isNonEmptyText,
    answer: isString,
    stop: isString,
    reason: isStopReason,
  },
  afterModel: { parts: isAnswerPartList, stop: isString, reason: isStopReason },
  afterCycle: { steer: isNonEmptyText, stop: isString, reason: isStopReason },
}

async function callHook<T>(
  point: keyof RunHooks,
  hook: () => T | Promise<T>,
  signal?: AbortSignal,
): Promise<Exclude<T, void> | undefined> {
  const shape: Record<string, (value: unknown) => boolean> = hookResultShapes[point]
  try {
    const work = outsideRuns(hook)
    const returned: unknown = await (signal ? rejectOnAbort(work, signal) : work)
    if (returned === undefined || returned === null) return undefined
    const problem = shapeProblem(returned, shape)
    if (problem === undefined) return returned as Exclude<T, void>
    throw new TypeError(`it returned ${problem}`)
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new AgentError(`The ${point} hook failed: ${errorData(cause).message}. Fix the hook.`, {
      code: "hook-failed",
      cause,
      details: { hook: point },
    })
  }
}

// Names the wrong member if all members are known; undefined if the result has the shape.
function shapeProblem(returned: unknown, shape: Record<string, (value: unknown) => boolean>): string | undefined {
  const members = isRecord(returned) ? Object.entries(withoutUndefined(returned)) : []
  const allowed = `nothing or an object with one of: ${Object.keys(shape).join(", ")}`
  if (members.length === 0 || members.some(([key]) => !Object.hasOwn(shape, key)))
    return `something else than ${allowed}`
  const wrong = members.filter(([key, value]) => !shape[key]?.(value)).map(([key]) => `\`${key}\``)
  if (wrong.length === 0) return undefined
  return `a wrong ${wrong.join(" and ")}: it is empty, or not of the type that the hook may return`
}

function partsOf(prompt: Prompt): PromptPart[] {
  return typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt
}

function isPrompt(value: unknown): boolean {
  return isString(value) || isPromptParts(value)
}

function isAnswerPartList(value: unknown): boolean {
  if (!isAnswerParts(value) || copyIfJson(value) === undefined) return false
  return isListOf((part) => !isRecord(part) || part.type !== "tool-call" || isNonEmptyText(part.name))(value)
}

function isNonEmptyText(value: unknown): boolean {
  return isString(value) && value.trim() !== ""
}

function isStopReason(value: unknown): boolean {
  return value === "hook" || value === "guardrail"
}
