// The call gate: the one check that every call passes, from cells and from tool calls: limits, hooks, approval.
import { errorData } from "../core/errors.ts"
import type { CallPreview, Emit } from "../core/event.ts"
import { startDeadline } from "../runtime/deadline.ts"
import type { CallGate, PauseSignal, RuntimeCall, RuntimeMakeCall } from "../runtime/runtime.ts"
import { createToolState } from "../tools/tool-state.ts"
import { type ApprovalServices, askReadersAbout, callIfStillApproved, requireApproval } from "./approval.ts"
import type { CallPolicy } from "./call-policy.ts"
import type { HookCaller } from "./hook-caller.ts"
import { type CallContext, type CallOutcome, runAfterCall, runBeforeCall } from "./hooks.ts"
import type { CallSteps, Journal } from "./journal-contract.ts"
import { callName, previewCall } from "./preview-call.ts"
import { spendCall } from "./run-limits.ts"

export interface GateServices extends ApprovalServices, CallPolicy {
  approver: CallPolicy["approver"]
  approvalTimeoutMs: CallPolicy["approvalTimeoutMs"]
  /** The time that the run has been active; it stands still while a person decides. */
  activeMs(): number
  /** Reports when the clocks stop and continue. */
  pauseSignal: PauseSignal
  /** The run that makes the calls, as hooks see it. */
  caller: HookCaller
  /** Set for a durable or recorded run. */
  journal?: Journal | undefined
  /** The state of the run's tools; needed if there is a journal. */
  state?: CallSteps["state"] | undefined
}

export interface CountingGate {
  gate: CallGate
  count: number
}

// A cell may call in a loop. Calls beyond this number are counted, but get no events.
const maxReportedCalls = 1000

/** Creates the gate. Each call is reported by events, counted against the limits, passed to the hooks, approved and
 *  then made. For a tool call, `reportedElsewhere` is true: `performTools` emits its events and counts it. */
export function callGate(services: GateServices, within: string, emit: Emit, reportedElsewhere = false): CountingGate {
  const calls: CountingGate = {
    count: 0,
    gate: async (call, next) => {
      const isReported = !reportedElsewhere && calls.count++ < maxReportedCalls
      if (!isReported && calls.count === maxReportedCalls + 1) {
        emit({ type: "warning-raised", code: "many-calls", message: tooManyCallsText })
      }
      const started = services.activeMs()
      const durationMs = () => Math.round(services.activeMs() - started)
      if (isReported) emit({ type: "call-start", id: call.id, within, call: previewCall(call) })
      const trace: HookTrace = {}
      try {
        if (!reportedElsewhere) spendCall(call, services.budgets)
        const value =
          services.hooks.length === 0
            ? await callWithApproval(call, next, services, emit)
            : await callWithHooks(call, next, services, within, emit, trace)
        if (isReported) emit({ type: "call-end", id: call.id, ok: true, durationMs: durationMs(), ...trace })
        return value
      } catch (error) {
        const { name, message } = errorData(error)
        const failed = { ok: false, durationMs: durationMs(), error: `${name}: ${message}` }
        if (isReported) emit({ type: "call-end", id: call.id, ...failed, ...trace })
        throw error
      }
    },
  }
  return calls
}

/** What hooks did to a call; part of its `call-end` event. */
interface HookTrace {
  /** The call as it was made, if a hook changed its arguments. */
  call?: CallPreview
  /** Set if a hook provided the value. */
  by?: "hook"
}

async function callWithHooks(
  call: RuntimeCall,
  next: RuntimeMakeCall,
  services: GateServices,
  within: string,
  emit: Emit,
  trace: HookTrace,
): Promise<unknown> {
  const { hooks, caller } = services
  const context: CallContext = { ...caller, within, signal: call.signal }
  let made = call
  let outcome: CallOutcome
  try {
    const before = await runBeforeCall(call, hooks, context)
    made = before.call
    if (made !== call) trace.call = previewCall(made)
    outcome = before.result
      ? { ok: true, value: before.result.value, by: "hook" }
      : { ok: true, value: await callWithApproval(made, next, services, emit), by: "call" }
  } catch (error) {
    outcome = { ok: false, error }
  }
  const end = await runAfterCall(made, outcome, hooks, context)
  if (!end.ok) throw end.error
  if (end.by === "hook") trace.by = "hook"
  return end.value
}

function callWithApproval(
  call: RuntimeCall,
  next: RuntimeMakeCall,
  services: GateServices,
  emit: Emit,
): Promise<unknown> {
  const { journal, pauseSignal, state = createToolState() } = services
  if (!journal) {
    if (!call.approve) return makeCall(call, next, pauseSignal)
    const ask = (reason?: string) => requireApproval(call, { ...services, reason }, emit)
    return ask().then((approved) => callIfStillApproved(call, approved, ask, () => makeCall(call, next, pauseSignal)))
  }
  let approved: string | undefined
  return journal.call(call, {
    async approve(by) {
      approved = await requireApproval(call, { ...services, ...by }, emit)
    },
    ask: (by) => askReadersAbout(call, { ...services, ...by }, emit),
    make(idempotencyKey, decidingAgain) {
      const ask = (reason: string) => requireApproval(call, { ...services, ...decidingAgain?.(), reason }, emit)
      const make = () => makeCall(call, (change) => next({ ...change, idempotencyKey }), pauseSignal)
      return callIfStillApproved(call, approved, ask, make)
    },
    state,
  })
}

function makeCall(call: RuntimeCall, next: RuntimeMakeCall, pauseSignal: PauseSignal): Promise<unknown> {
  const { timeoutMs, args } = call
  return timeoutMs === undefined ? next({ args }) : callWithTimeout(call, timeoutMs, next, pauseSignal)
}

/** The error that a cell or the model sees when a call took too long. */
export class CallTimeout extends Error {
  override name = "TimeoutError"
}

async function callWithTimeout(
  call: RuntimeCall,
  timeoutMs: number,
  next: RuntimeMakeCall,
  pauseSignal: PauseSignal,
): Promise<unknown> {
  const controller = new AbortController()
  const abort = () => controller.abort(call.signal.reason)
  if (call.signal.aborted) abort()
  call.signal.addEventListener("abort", abort)
  const late = Promise.withResolvers<never>()
  const deadline = startDeadline(timeoutMs, pauseSignal, () => {
    const error = new CallTimeout(`${callName(call)} took longer than ${timeoutMs} ms and was given up.`)
    controller.abort(error)
    late.reject(error)
  })
  try {
    return await Promise.race([next({ args: call.args, signal: controller.signal }), late.promise])
  } finally {
    deadline.clear()
    call.signal.removeEventListener("abort", abort)
  }
}

// No `toLocaleString` here: its first use loads Intl, which adds 15 ms to every `import "karst"`.
const tooManyCallsText = "More than 1,000 calls in one cell: the rest are counted, not shown."
