// Functions of the host in cells: each call passes the gate of the calling cell. Also the registry of proxies: which
// host object or function a value in a cell stands for.
import { isObject } from "../../../core/object.ts"
import { type CallRequest, callThroughGate } from "../../bindings/gated-call.ts"
import type { AnyFunction, CallOptions, FunctionBinding } from "../../bindings.ts"
import { isTuple, type Validation, validateMaybeSync } from "../../schema.ts"
import { recordCallingCell } from "../cell-errors.ts"
import { cellStorage, type RunningCell, type SharedCellState } from "../running-cell.ts"

/** A function binding and the function that cells call. */
export interface BoundCellFunction {
  readonly cellFunction: AnyFunction
  /** The binding that is called, also through references to the function that cells stored earlier. */
  target: FunctionBinding
}

const originals = new WeakMap<object, () => object>()
const realObjects = new WeakMap<object, object>()
const objectProxies = new WeakMap<object, WeakMap<SharedCellState, { proxy: object; epoch: number }>>()

/** Makes every call of a function pass the gate of the calling cell, however the cell got the function. */
export function bindFunction(name: string, target: FunctionBinding, shared: SharedCellState): BoundCellFunction {
  const { epoch } = shared
  const bound: BoundCellFunction = {
    target,
    // The target is an arrow function, so `new` cannot bypass the gate; properties are read from the bound function.
    cellFunction: new Proxy<AnyFunction>(createNamedNoop(name), {
      apply(_target, _this, args: unknown[]) {
        // The host may have stored a function from before a reset.
        if (shared.epoch !== epoch) throw new Error(`${name} was not called: its runtime was reset or closed.`)
        return callBinding(name, bound.target, args, shared)
      },
      get: (_target, key) => Reflect.get(bound.target.call, key),
      set: (_target, key, value) => Reflect.set(bound.target.call, key, value),
    }),
  }
  registerOriginal(bound.cellFunction, () => bound.target.call)
  return bound
}

/** A function that does nothing: the target of a function proxy. */
export function createNamedNoop(name: string): AnyFunction {
  return Object.defineProperty(() => undefined, "name", { value: name })
}

/** Registers the host object or function that a proxy stands for in cells. */
export function registerOriginal(proxy: object, original: () => object): void {
  originals.set(proxy, original)
}

/** The host object or function that a value stands for, or the value itself. */
export function unwrapProxy(value: unknown): unknown {
  return isObject(value) ? (originals.get(value)?.() ?? value) : value
}

/** Registers the proxy that stands for an object in the cells of a runtime. */
export function registerObjectProxy(proxy: object, real: object, shared: SharedCellState): void {
  registerOriginal(proxy, () => real)
  realObjects.set(proxy, real)
  const proxies = objectProxies.get(real) ?? new WeakMap<SharedCellState, { proxy: object; epoch: number }>()
  objectProxies.set(real, proxies.set(shared, { proxy, epoch: shared.epoch }))
}

/** The object that a value stands for, as host functions get it. Function proxies are not unwrapped, so that the host's
 *  calls of them pass the gate as well. */
export function unwrapObjectProxy(value: unknown): unknown {
  return isObject(value) ? (realObjects.get(value) ?? value) : value
}

/** Returns true if a value stands for an object or function of the host. */
export function isHostProxy(value: object): boolean {
  return originals.has(value)
}

/** The proxy of an object in the cells of a runtime; nearly every object has none and is returned itself. */
export function proxyFor(value: unknown, shared: SharedCellState): unknown {
  const entry = isObject(value) ? objectProxies.get(value)?.get(shared) : undefined
  return entry?.epoch === shared.epoch ? entry.proxy : value
}

export interface CellCall extends Pick<CallRequest, "binding" | "method" | "subject" | "accept" | "make"> {
  options: CallOptions
}

/** Makes a call for the running cell, through its gate. */
export function callFromCell(call: CellCall, args: readonly unknown[], shared: SharedCellState): Promise<unknown> {
  const cell = cellStorage.getStore()
  cell?.throwIfStoppedOrLate()
  const outcome = makeGatedCall(call, args, cell, shared)
  if (!cell) return outcome
  const settle = () => cell.openCalls.delete(outcome)
  cell.openCalls.add(outcome)
  outcome.then(settle, settle)
  const result = settleInCell(outcome, cell)
  return shared.wrapCallResult
    ? shared.wrapCallResult(result, call.method ? `${call.binding}.${call.method}` : call.binding)
    : result
}

/** Returns a second promise to the cell. The first one is always handled, so only this one shows whether the cell
 *  forgot to await it. It also settles in the cell's context, and stacks show which cell waits for it. */
async function settleInCell(outcome: Promise<unknown>, cell: RunningCell): Promise<unknown> {
  try {
    const value = await outcome
    cell.throwIfStoppedOrLate()
    return value
  } catch (error) {
    cell.hasFailedCall = true
    throw recordCallingCell(error, new Error())
  }
}

function callBinding(
  name: string,
  binding: FunctionBinding,
  args: readonly unknown[],
  shared: SharedCellState,
): unknown {
  // A sync call checks the deadline when it returns, which is just before the next call.
  if (binding.options.sync) return callSync(name, binding, args, shared)
  const { input } = binding.options
  const accept =
    input === undefined ? undefined : (rawArgs: readonly unknown[]) => validArguments(name, binding, rawArgs)
  const make = (made: readonly unknown[]) => Reflect.apply(binding.call, undefined, made)
  return callFromCell({ binding: name, options: binding.options, accept, make }, args, shared)
}

async function makeGatedCall(
  { binding, method, options, subject, accept, make }: CellCall,
  rawArgs: readonly unknown[],
  cell: RunningCell | undefined,
  shared: SharedCellState,
): Promise<unknown> {
  const unwrapped = rawArgs.map(unwrapObjectProxy)
  const accepted = accept ? accept(unwrapped) : unwrapped
  const args = accepted instanceof Promise ? await accepted : accepted
  const request = {
    binding,
    method,
    subject,
    args,
    options,
    accept,
    nameOf: shared.pathOf,
    signal: cell?.signal ?? new AbortController().signal,
    make(made: readonly unknown[]) {
      cell?.throwIfStopped()
      cell?.countCall(method === undefined ? binding : `${binding}.${method}`)
      // Convert arguments only now: the gate compares and shows the cell's own objects.
      return make(shared.guardedValues ? made.map(shared.guardedValues.toHost) : made)
    },
  }
  if (!cell && shared.owner === "several") {
    throw new Error(
      `${method === undefined ? binding : `${binding}.${method}`} was not called: it was called outside of every cell, and ` +
        "several agents have used this runtime, so it is not known whose approval it needs. Give each agent a runtime of its own.",
    )
  }
  // Without a cell, the host called a closure that it got from a cell, such as a listener.
  return toCell(await callThroughGate(request, cell ? cell.gate : shared.gate), shared)
}

function callSync(
  name: string,
  binding: FunctionBinding,
  rawArgs: readonly unknown[],
  shared: SharedCellState,
): unknown {
  const cell = cellStorage.getStore()
  cell?.throwIfStopped()
  const args = validArguments(name, binding, rawArgs.map(shared.guardedValues?.toHost ?? unwrapObjectProxy))
  if (args instanceof Promise) {
    throw new TypeError(`${name} is bound as sync, but its input schema validates asynchronously.`)
  }
  cell?.countCall(name)
  const value: unknown = Reflect.apply(binding.call, undefined, args)
  cell?.throwIfStoppedOrLate()
  return toCell(value, shared)
}

function toCell(value: unknown, shared: SharedCellState): unknown {
  return shared.guardedValues ? shared.guardedValues.toCell(value) : proxyFor(value, shared)
}

function validArguments(
  name: string,
  { options: { input } }: FunctionBinding,
  args: readonly unknown[],
): readonly unknown[] | Promise<readonly unknown[]> {
  if (input === undefined) return args
  const describesAll = isTuple(input)
  const accept = (validation: Validation): readonly unknown[] => {
    if (!validation.ok) throw new TypeError(`Invalid input of ${name}: ${validation.message}`)
    return describesAll && Array.isArray(validation.value) ? validation.value : [validation.value, ...args.slice(1)]
  }
  const validation = validateMaybeSync(input, describesAll ? args : args[0])
  return validation instanceof Promise ? validation.then(accept) : accept(validation)
}
