import { rejectOnAbort } from "../core/abort.ts"
import { ConfigError, errorData } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { nearestWord } from "../core/text/nearest-word.ts"
import type { CompactHooks } from "../memory.ts"
import type { RuntimeCall } from "../runtime/runtime.ts"
import { callName } from "./preview-call.ts"
import type { RunHooks } from "./run-hooks.ts"

/** Code of yours at certain points of a run. Several objects are a pipeline: each gets what those before it made of it.
 *  A `before…` or `after…` that throws or gives something else than it may fails closed: around a call as an error the
 *  model sees, elsewhere as the failure of the run. An `on…` only watches, and can break nothing. */
export interface Hooks extends RunHooks, CompactHooks {
  /** Before a call, wherever it comes from, once it is within its limits and before anybody is asked for approval. Gives
   *  nothing to let it be, other `args` (validated again), a `result` in place of the call, or the reason to `refuse` it. */
  beforeCall?(call: RuntimeCall, context: CallContext): BeforeCall | Promise<BeforeCall>
  /** After a call that `beforeCall` saw, made or not: failures, refusals and results of hooks come by here too. Gives
   *  nothing to let the outcome be, or another `value`, also in place of a failure. */
  afterCall?(call: RuntimeCall, outcome: CallOutcome, context: CallContext): AfterCall | Promise<AfterCall>
  /** Sees every event of the run and of those it starts. What it throws becomes a warning, once. */
  onEvent?(event: AgentEvent): unknown
  /** Whether the runs that a run starts have these hooks too, around their own. Default true. */
  inherited?: boolean | undefined
}

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common one.
export type BeforeCall = void | undefined | { args: readonly unknown[] } | { result: unknown } | { refuse: string }

// biome-ignore lint/suspicious/noConfusingVoidType: as above.
export type AfterCall = void | undefined | { value: unknown }

/** What a call came to. `by` tells whether the function was called or a hook gave the value in its place. */
export type CallOutcome = { ok: true; value: unknown; by: "call" | "hook" } | { ok: false; error: unknown }

/** Where a hook is called. */
export interface HookContext {
  /** The id of the run, and that of the run that started it. */
  run: string
  parent?: string | undefined
  agent: string
  /** Fires when the run, cell or call is aborted or out of time. */
  signal: AbortSignal
}

/** Where a call was made. */
export interface CallContext extends HookContext {
  /** The id of the cell, or of the tool call. */
  within: string
}

/** What a cell sees when a hook refused a call. */
export class CallRefused extends Error {
  override name = "CallRefused"
}

const twoSidedPoints = ["Run", "Model", "Call", "Compact"]
const hookNames = [
  ...twoSidedPoints.flatMap((point) => [`before${point}`, `after${point}`]),
  "afterCycle",
  "onEvent",
  "onCompact",
]

export function toHooks(hooks: Hooks | readonly Hooks[] | undefined): readonly Hooks[] {
  if (hooks === undefined) return []
  const list: readonly Hooks[] = isList<Hooks>(hooks) ? hooks : [hooks]
  if (list.some((each: unknown) => typeof each !== "object" || each === null)) {
    throw new ConfigError("hooks: one of them is no object of hooks, such as { beforeCall }.")
  }
  for (const each of list) checkHookNames(each)
  return list
}

/** A guard whose name is misspelt, or that is no function, would never be called, and nobody would know. An object of hooks
 *  may have other members of its own. */
function checkHookNames(hooks: Hooks): void {
  for (const [name, value] of Object.entries(hooks)) {
    if (hookNames.includes(name)) {
      if (value !== undefined && typeof value !== "function") throw new ConfigError(`hooks: ${name} is not a function.`)
    } else if (/^(before|after)[A-Z]/.test(name) || (typeof value === "function" && nearestWord(name, hookNames))) {
      throw new ConfigError(`hooks: there is no "${name}". There are ${hookNames.join(", ")}.`)
    }
  }
}

/** All who watch a run's events as one: each is told, whatever the others do. */
export function combineObservers(
  onEvent: ((event: AgentEvent) => unknown) | undefined,
  hooks: readonly Hooks[],
): ((event: AgentEvent) => unknown) | undefined {
  const watching = hooks.filter((hook) => hook.onEvent)
  if (watching.length === 0) return onEvent
  const observers = [onEvent, ...watching.map((hook) => (event: AgentEvent) => hook.onEvent?.(event))]
  return (event) => Promise.all(observers.map(async (observer) => observer?.(event)))
}

/** The hooks of a run that another one started: the outer ones see what comes first and have the last word. */
export function nestHooks(outer: readonly Hooks[], inner: readonly Hooks[]): readonly Hooks[] {
  const around = outer.filter(({ inherited }) => inherited !== false)
  if (around.length === 0) return inner
  const [first, last] = [
    around.map((hooks) => pickHooks(hooks, "before")),
    around.map((hooks) => pickHooks(hooks, "after", "onCompact")),
  ]
  return [...first, ...inner, ...last]
}

/** The call as the hooks want it made, or the result they give in its place. Throws when one refuses it. */
export async function runBeforeCall(
  asked: RuntimeCall,
  hooks: readonly Hooks[],
  context: CallContext,
): Promise<{ call: RuntimeCall; result?: { value: unknown } }> {
  let call = asked
  for (const hook of hooks) {
    if (!hook.beforeCall) continue
    // Other arguments are validated, so a hook returns them and does not put them in.
    Object.freeze(call.args)
    const change = await beforeCall(hook, Object.freeze(call), context)
    if (change === undefined) continue
    if ("refuse" in change) throw new CallRefused(`${callName(call)} was not called: ${change.refuse}`)
    if ("result" in change) return { call, result: { value: change.result } }
    const args = call.accept ? await rejectOnAbort(call.accept(change.args), context.signal) : change.args
    call = { ...call, args }
  }
  return { call }
}

/** What the hooks make of an outcome: the value to give, or the error to throw. */
export async function runAfterCall(
  call: RuntimeCall,
  found: CallOutcome,
  hooks: readonly Hooks[],
  context: CallContext,
): Promise<CallOutcome> {
  let outcome = found
  for (const hook of hooks) {
    if (!hook.afterCall) continue
    try {
      const change = await rejectOnAbort(hook.afterCall(call, outcome, context), context.signal)
      if (change === undefined || change === null) continue
      if (typeof change !== "object" || !("value" in change)) throw invalidHookResult("afterCall", "{ value }")
      outcome = { ok: true, value: change.value, by: "hook" }
    } catch (error) {
      outcome = { ok: false, error: context.signal.aborted ? error : hookFailure(call, "afterCall", error) }
    }
  }
  return outcome
}

async function beforeCall(
  hook: Hooks,
  call: RuntimeCall,
  context: CallContext,
): Promise<Exclude<BeforeCall, void> | undefined> {
  try {
    const change = await rejectOnAbort(hook.beforeCall?.(call, context), context.signal)
    if (change === undefined || change === null) return undefined
    if (typeof change === "object" && isChange(change)) return change
    throw invalidHookResult("beforeCall", "{ args: [ … ] }, { result }, { refuse: reason }")
  } catch (error) {
    throw context.signal.aborted ? error : hookFailure(call, "beforeCall", error)
  }
}

// One of the three, and not two that contradict each other.
function isChange(change: object): boolean {
  if (["args", "result", "refuse"].filter((key) => key in change).length !== 1) return false
  if ("refuse" in change) return typeof change.refuse === "string"
  return !("args" in change) || Array.isArray(change.args)
}

function hookFailure(call: RuntimeCall, point: "beforeCall" | "afterCall", cause: unknown): CallRefused {
  const fate = point === "beforeCall" ? "was not called" : "has no result"
  return new CallRefused(`${callName(call)} ${fate}: its ${point} hook failed: ${errorData(cause).message}`, { cause })
}

function invalidHookResult(point: string, shapes: string): TypeError {
  return new TypeError(`it gave something else than nothing or ${shapes}. Mend the ${point} hook.`)
}

// Bound, because hooks may be methods of an object with state; a class has them where no enumeration finds them.
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
