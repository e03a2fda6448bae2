import { rejectOnAbort } from "../core/abort.ts"
import { isListOf, isObject, isObjectWith, isString } from "../core/checks/check-shape.ts"
import { isAnswerParts, isMessageList, isPromptParts } from "../core/checks/message-shape.ts"
import type { ErrorData } from "../core/errors.ts"
import { AgentError, errorData } from "../core/errors.ts"
import type { Pending, Status, StopReason } from "../core/event.ts"
import { copyIfJson } from "../core/json.ts"
import type { AssistantMessage, Message, Prompt, PromptPart } from "../core/message.ts"
import { outsideRuns } from "../core/run-context.ts"
import type { Usage } from "../core/usage.ts"
import { deepFreeze } from "../core/values/freeze.ts"
import type { ToolSpec } from "../models/model.ts"
import type { HookContext } from "./hooks.ts"

/** Code of yours around a run, each answer of the model and each cycle. What it starts is no part of the run. */
export interface RunHooks {
  /** Before anything is said to the model. Gives nothing to let the run begin, another `prompt`, or why to `stop`: then the
   *  model never sees the prompt, not later in the session either. */
  beforeRun?(start: RunStart, context: HookContext): BeforeRun | Promise<BeforeRun>
  /** Once the run is over, whatever came of it. Gives nothing to let it be, another `output`, or why to withhold it: a run
   *  that was done is then stopped. */
  afterRun?(end: RunEnding, context: HookContext): AfterRun | Promise<AfterRun>
  /** Before each request. Gives nothing to let it be; other `system`, `messages` or `tools` for this request alone, the
   *  conversation stays as it is; a `note`, which is said to the model and remembered; an `answer` in place of the
   *  model's; or why to `stop`. A tool that is not offered is not called either. */
  beforeModel?(turn: ModelTurn, context: HookContext): BeforeModel | Promise<BeforeModel>
  /** After each answer, before it is remembered and acted on. Gives nothing to let it be, other `parts`, or why to `stop`:
   *  then nothing the answer asks for is done. */
  afterModel?(answer: ModelAnswer, context: HookContext): AfterModel | Promise<AfterModel>
  /** After each cycle, when everything it asked for has its result. Gives nothing to go on as the run would, a text to
   *  `steer` by, which also sends an answer or a question back, or why to `stop`. It cannot make a run done. */
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
  /** What was said before. */
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
  /** 1 for the first. */
  cycle: number
  system: string
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  /** What the run has used so far. */
  usage: Usage
}

export interface ModelAnswer {
  cycle: number
  parts: AssistantMessage["parts"]
  usage: Usage
}

export interface CycleEnding {
  cycle: number
  /** How the run would go on. */
  next: "continue" | "done" | "waiting"
  /** The answer, where it is done; else the last text the model wrote. */
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

/** The hooks say what a run begins with, or that it does not. */
export async function runBeforeRun(
  start: RunStart,
  hooks: readonly RunHooks[],
  context: HookContext,
): Promise<{ prompt: Prompt } | Stop | undefined> {
  let changed: { prompt: Prompt } | undefined
  for (const hook of hooks) {
    if (!hook.beforeRun) continue
    const seen = changed ? { ...start, prompt: partsOf(changed.prompt) } : start
    const given = await callHook(
      "beforeRun",
      () => hook.beforeRun?.(deepFreeze(seen), context),
      hookResultShapes.beforeRun,
      context.signal,
    )
    if (given && "stop" in given) return given
    if (given) changed = given
  }
  return changed
}

/** The hooks say what is left of an ending. Not raced with the signal: an aborted run has an ending too. */
export async function runAfterRun(
  end: RunEnding,
  hooks: readonly RunHooks[],
  context: HookContext,
): Promise<{ output: string } | Stop | undefined> {
  let changed: { output: string } | undefined
  for (const hook of hooks) {
    if (!hook.afterRun) continue
    const seen = changed ? { ...end, ...changed } : end
    const given = await callHook(
      "afterRun",
      () => hook.afterRun?.(deepFreeze(seen), context),
      hookResultShapes.afterRun,
    )
    if (given && "stop" in given) return given
    if (given) changed = given
  }
  return changed
}

/** What became of a request on its way to the model. */
export interface PreparedRequest extends Pick<ModelTurn, "system" | "messages" | "tools"> {
  answer?: string | undefined
  stop?: Stop | undefined
}

/** The hooks say what is asked. `remember` adds a note to the conversation, and gives its message. */
export async function runBeforeModel(
  turn: ModelTurn,
  hooks: readonly RunHooks[],
  context: HookContext,
  remember: (note: string) => Message,
): Promise<PreparedRequest> {
  let asked = turn
  for (const hook of hooks) {
    if (!hook.beforeModel) continue
    const given = await callHook(
      "beforeModel",
      () => hook.beforeModel?.(deepFreeze(asked), context),
      hookResultShapes.beforeModel,
      context.signal,
    )
    if (!given) continue
    if ("stop" in given) return { ...asked, stop: given }
    if ("answer" in given) return { ...asked, answer: given.answer }
    const { system = asked.system, tools = asked.tools, note } = given
    const messages = given.messages ?? asked.messages
    asked = { ...asked, system, tools, messages: note === undefined ? messages : [...messages, remember(note)] }
  }
  return asked
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
    const given = await callHook(
      "afterModel",
      () => hook.afterModel?.(deepFreeze(seen), context),
      hookResultShapes.afterModel,
      context.signal,
    )
    if (given && "stop" in given) return { parts, stop: given }
    // The conversation holds a copy: the hook may change its own objects later.
    if (given) parts = given.parts.map((part) => (parts.includes(part) ? part : (copyIfJson(part) ?? part)))
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
    const given = await callHook(
      "afterCycle",
      () => hook.afterCycle?.(deepFreeze(seen), context),
      hookResultShapes.afterCycle,
      context.signal,
    )
    if (given && "stop" in given) return { steer, stop: given }
    if (given) steer.push(given.steer)
  }
  return { steer }
}

// What each may give beside nothing; a wrong key is as likely a mistake as a wrong value.
const hookResultShapes = {
  beforeRun: { prompt: isPrompt, stop: isString, reason: isStopReason },
  afterRun: { output: isString, stop: isString, reason: isStopReason },
  beforeModel: {
    system: isString,
    messages: isMessageList,
    tools: isListOf(isObjectWith({ name: isString, description: isString, input: isObject })),
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
  shape: Record<string, (value: unknown) => boolean>,
  signal?: AbortSignal,
): Promise<Exclude<T, void> | undefined> {
  try {
    const work = outsideRuns(hook)
    const given: unknown = await (signal ? rejectOnAbort(work, signal) : work)
    if (given === undefined || given === null) return undefined
    if (fitsShape(given, shape)) return given as Exclude<T, void>
    throw new TypeError(`it returned ${shapeProblem(given, shape)}`)
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new AgentError(`The ${point} hook failed: ${errorData(cause).message}. Mend the hook.`, {
      code: "hook-failed",
      cause,
      details: { hook: point },
    })
  }
}

function fitsShape(given: unknown, shape: Record<string, (value: unknown) => boolean>): boolean {
  if (typeof given !== "object" || given === null) return false
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return entries.length > 0 && entries.every(([key, value]) => Object.hasOwn(shape, key) && shape[key]?.(value))
}

// Names the member that is wrong, where the object has only members that may be there.
function shapeProblem(given: unknown, shape: Record<string, (value: unknown) => boolean>): string {
  const members = isObject(given) ? Object.entries(given).filter(([, value]) => value !== undefined) : []
  const allowed = `nothing or an object with one of: ${Object.keys(shape).join(", ")}`
  if (members.length === 0 || members.some(([key]) => !Object.hasOwn(shape, key)))
    return `something else than ${allowed}`
  const wrong = members.filter(([key, value]) => !shape[key]?.(value)).map(([key]) => `\`${key}\``)
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
  return isListOf((part) => !isObject(part) || part.type !== "tool-call" || isNonEmptyText(part.name))(value)
}

function isNonEmptyText(value: unknown): boolean {
  return isString(value) && value.trim() !== ""
}

function isStopReason(value: unknown): boolean {
  return value === "hook" || value === "guardrail"
}
