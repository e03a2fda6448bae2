// Makes the calls of a runtime: every function and method call of every runtime passes its call gate here.
import { AsyncLocalStorage } from "node:async_hooks"
import { newId } from "../../core/message.ts"
import type { CallOptions } from "../bindings.ts"
import type { CallGate, RuntimeCall } from "../runtime.ts"

/** A call that a runtime wants to make. */
export interface CallRequest {
  /** Default: a new one. */
  id?: string | undefined
  binding: string
  method?: string | undefined
  /** Identifies a guarded method. Default: the name of the call. */
  subject?: string | undefined
  /** Validated, if the binding has a schema. */
  args: readonly unknown[]
  options?: CallOptions | undefined
  nameOf?: RuntimeCall["nameOf"]
  /** The cell's signal. */
  signal: AbortSignal
  accept?: RuntimeCall["accept"]
  make(args: readonly unknown[]): unknown
}

const callStorage = new AsyncLocalStorage<RuntimeCall>()

/** The call that the running code belongs to, also after awaits; undefined outside of a call. Use its `signal` in your
 *  functions: it fires when the run or cell is aborted, or the cell or call is out of time. */
export function currentCall(): RuntimeCall | undefined {
  return callStorage.getStore()
}

export function callThroughGate(request: CallRequest, gate: CallGate | undefined): Promise<unknown> {
  const { id = newId("call"), binding, method, subject, args, options = {}, signal, accept } = request
  const { approve = false, maxCalls, timeoutMs, idempotent, unknown, journal } = options
  const call: RuntimeCall = { id, binding, args, approve, signal }
  if (method !== undefined) call.method = method
  if (subject !== undefined) call.subject = subject
  if (request.nameOf) call.nameOf = request.nameOf
  if (maxCalls !== undefined) call.maxCalls = maxCalls
  if (timeoutMs !== undefined) call.timeoutMs = timeoutMs
  if (accept) call.accept = accept
  if (idempotent !== undefined) call.idempotent = idempotent
  if (unknown !== undefined) call.unknown = unknown
  if (journal !== undefined) call.journal = journal
  let called = false
  const next: Parameters<CallGate>[1] = async (change) => {
    if (called) throw new Error(`The gate called ${callName(call)} twice; next() is for one call.`)
    called = true
    const isReplaced = change?.signal || change?.idempotencyKey !== undefined || (change?.args ?? args) !== args
    const finalCall = isReplaced ? { ...call, ...change } : call
    return await callStorage.run(finalCall, request.make, finalCall.args)
  }
  return gate ? gate(call, next) : next()
}

function callName({ binding, method }: RuntimeCall): string {
  return method === undefined ? binding : `${binding}.${method}`
}
