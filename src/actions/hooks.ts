// User hooks: the `Hooks` interface, its validation, and the functions that run the hooks around calls.
import { rejectOnAbort } from "../core/abort.ts"
import { ConfigError, errorData } from "../core/errors.ts"
import type { AgentEvent, Metadata } from "../core/event.ts"
import { nearestWord } from "../core/text/nearest-word.ts"
import type { CompactHooks } from "../memory.ts"
import type { RuntimeCall } from "../runtime/runtime.ts"
import { callName } from "./preview-call.ts"
import type { RunHooks } from "./run-hooks.ts"

/** User code at certain points of a run. Several objects form a pipeline: each gets the result of the one before. A
 *  `before…` or `after…` hook that throws or returns an invalid value fails closed: around a call as an error that the
 *  model sees, elsewhere as a failed run. An `on…` hook only observes and cannot break anything. */
export interface Hooks extends RunHooks, CompactHooks {
  /** Called before each call from a cell or a tool call, after the limits and before approval. Returns nothing to leave
   *  the call as it is, other `args` (validated again), a `result` instead of the call, or a reason to `refuse` it. */
  beforeCall?(call: RuntimeCall, context: CallContext): BeforeCall | Promise<BeforeCall>
  /** Called after each call within the limits, also after failures, refusals and results of hooks, and even if an
   *  earlier hook ended the call before this object's `beforeCall`. Returns nothing to leave the outcome as it is, or
   *  another `value`, which may also replace a failure. */
  afterCall?(call: RuntimeCall, outcome: CallOutcome, context: CallContext): AfterCall | Promise<AfterCall>
  /** Called with every event of the run and of its child runs. If it throws, a warning is emitted once. */
  onEvent?(event: AgentEvent): unknown
  /** Whether child runs have these hooks too, around their own. Default true. */
  inherited?: boolean | undefined
}

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common one.
export type BeforeCall = void | undefined | { args: readonly unknown[] } | { result: unknown } | { refuse: string }

// biome-ignore lint/suspicious/noConfusingVoidType: as above.
export type AfterCall = void | undefined | { value: unknown }

/** The outcome of a call. `by` is `hook` if a hook provided the value. */
export type CallOutcome = { ok: true; value: unknown; by: "call" | "hook" } | { ok: false; error: unknown }

/** The run in which a hook is called. */
export interface HookContext {
  /** The id of the run, and of the run that started it. */
  run: string
  parent?: string | undefined
  agent: string
  /** The id of the session that the run belongs to; undefined outside of sessions. A child run without a session
   *  belongs to that of the run that started it. */
  session?: string | undefined
  /** The metadata of the run. A child run has that of the run that started it, too. */
  metadata: Metadata
  /** Fires when the run, cell or call is aborted or out of time. */
  signal: AbortSignal
}

/** The cell or tool call in which a hook is called. */
export interface CallContext extends HookContext {
  /** The id of the cell, or of the tool call. */
  within: string
}

/** The error that a cell or the model sees when a `beforeCall` hook refused a call or failed. */
export class CallRefused extends Error {
  override name = "CallRefused"
}

/** The error that a cell or the model sees when an `afterCall` hook failed. It says whether the call was made. */
export class HookFailed extends Error {
  override name = "HookFailed"
}

const twoSidedPoints = ["Run", "Model", "Call", "Compact"]
/** The names of all hooks. */
export const hookNames: readonly string[] = [
  ...twoSidedPoints.flatMap((point) => [`before${point}`, `after${point}`]),
  "afterCycle",
  "onEvent",
  "onCompact",
]

export function toHooks(hooks: Hooks | readonly Hooks[] | undefined): readonly Hooks[] {
  if (hooks === undefined) return []
  const list: readonly Hooks[] = isList<Hooks>(hooks) ? hooks : [hooks]
  if (list.some((each: unknown) => typeof each !== "object" || each === null)) {
    throw new ConfigError("hooks: each must be an object of hooks, such as { beforeCall }.")
  }
  for (const each of list) checkHookNames(each)
  return list
}

/** Throws for a misspelt hook, or one that is no function: it would never be called. Other members are fine. */
function checkHookNames(hooks: Hooks): void {
  for (const [name, value] of Object.entries(hooks)) {
    if (hookNames.includes(name)) {
      if (value !== undefined && typeof value !== "function") throw new ConfigError(`hooks: ${name} is not a function.`)
    } else if (/^(before|after)[A-Z]/.test(name) || (typeof value === "function" && nearestWord(name, hookNames))) {
      throw new ConfigError(`hooks: there is no "${name}". There are ${hookNames.join(", ")}.`)
    }
  }
}

/** Combines all observers of a run's events into one. Each gets every event, even if others throw. */
export function combineObservers(
  onEvent: ((event: AgentEvent) => unknown) | undefined,
  hooks: readonly Hooks[],
): ((event: AgentEvent) => unknown) | undefined {
  const watching = hooks.filter((hook) => hook.onEvent)
  if (watching.length === 0) return onEvent
  const observers = [onEvent, ...watching.map((hook) => (event: AgentEvent) => hook.onEvent?.(event))]
  return (event) => Promise.all(observers.map(async (observer) => observer?.(event)))
}

/** Puts inherited hooks around a run's own: their `before…` hooks run first and their `after…` hooks run last.
 *  `onEvent` is left out: it already receives the events of child runs. */
export function nestHooks(outer: readonly Hooks[], inner: readonly Hooks[]): readonly Hooks[] {
  const around = outer.filter(({ inherited }) => inherited !== false)
  if (around.length === 0) return inner
  const first = around.map((hooks) => pickHooks(hooks, "before"))
  const last = around.map((hooks) => pickHooks(hooks, "after", "onCompact"))
  return [...first, ...inner, ...last]
}

/** Returns the call to make, or the result that a hook provides instead. Throws if a hook refuses the call. */
export async function runBeforeCall(
  requested: RuntimeCall,
  hooks: readonly Hooks[],
  context: CallContext,
): Promise<{ call: RuntimeCall; result?: { value: unknown } }> {
  let call = requested
  for (const hook of hooks) {
    if (!hook.beforeCall) continue
    // Frozen, so that a hook must return other arguments, which are then validated, instead of changing these.
    Object.freeze(call.args)
    const change = await runOneBeforeCall(hook, Object.freeze(call), context)
    if (change === undefined) continue
    if ("refuse" in change) throw new CallRefused(`${callName(call)} was not called: ${change.refuse}`)
    if ("result" in change) return { call, result: { value: change.result } }
    const args = call.accept ? await rejectOnAbort(call.accept(change.args), context.signal) : change.args
    call = { ...call, args }
  }
  return { call }
}

/** Returns the outcome after all `afterCall` hooks. */
export async function runAfterCall(
  call: RuntimeCall,
  initial: CallOutcome,
  hooks: readonly Hooks[],
  context: CallContext,
): Promise<CallOutcome> {
  let outcome = initial
  for (const hook of hooks) {
    if (!hook.afterCall) continue
    try {
      const change = await rejectOnAbort(hook.afterCall(call, outcome, context), context.signal)
      if (change === undefined || change === null) continue
      if (typeof change !== "object" || !("value" in change)) throw invalidHookResult("afterCall", "{ value }")
      outcome = { ok: true, value: change.value, by: "hook" }
    } catch (error) {
      const isInterrupted = context.signal.aborted && !initial.ok
      outcome = { ok: false, error: isInterrupted ? error : afterCallFailure(call, initial, error) }
    }
  }
  return outcome
}

function afterCallFailure(call: RuntimeCall, outcome: CallOutcome, cause: unknown): HookFailed {
  let fate = "was called, and calling it again repeats its effects"
  if (!outcome.ok) {
    const { name, message } = errorData(outcome.error)
    fate = `failed (${name}: ${message})`
  } else if (outcome.by === "hook") fate = "was not called: a hook provided its result"
  return new HookFailed(`${callName(call)} ${fate}. Then its afterCall hook failed: ${errorData(cause).message}`, {
    cause,
  })
}

async function runOneBeforeCall(
  hook: Hooks,
  call: RuntimeCall,
  context: CallContext,
): Promise<Exclude<BeforeCall, void> | undefined> {
  try {
    const change = await rejectOnAbort(hook.beforeCall?.(call, context), context.signal)
    if (change === undefined || change === null) return undefined
    if (typeof change === "object" && isValidChange(change)) return change
    throw invalidHookResult("beforeCall", "{ args: [ … ] }, { result }, { refuse: reason }")
  } catch (error) {
    if (context.signal.aborted) throw error
    const reason = `its beforeCall hook failed: ${errorData(error).message}`
    throw new CallRefused(`${callName(call)} was not called: ${reason}`, { cause: error })
  }
}

// A change must have exactly one of the three members.
function isValidChange(change: object): boolean {
  if (["args", "result", "refuse"].filter((key) => key in change).length !== 1) return false
  if ("refuse" in change) return typeof change.refuse === "string"
  return !("args" in change) || Array.isArray(change.args)
}

function invalidHookResult(point: string, shapes: string): TypeError {
  return new TypeError(`it gave something else than nothing or ${shapes}. Fix the ${point} hook.`)
}

// A proxy, because hooks may be methods of a class instance: those are not enumerable and need their `this`.
function pickHooks(hooks: Hooks, ...points: string[]): Hooks {
  return new Proxy(hooks, {
    get(_, name) {
      if (typeof name !== "string" || !points.some((point) => name.startsWith(point))) return undefined
      const hook: unknown = Reflect.get(hooks, name)
      return typeof hook === "function" ? hook.bind(hooks) : undefined
    },
  })
}

// `Array.isArray` does not narrow a readonly array.
function isList<T>(value: unknown): value is readonly T[] {
  return Array.isArray(value)
}
