import type { AnyFunction, CallOptions, FunctionBinding } from "../bindings.ts"
import { passGate } from "../gated-call.ts"
import type { Call } from "../runtime.ts"
import { check, isTuple, type Validation } from "../schema.ts"
import { throughCell } from "./errors.ts"
import { type RunningCell, running, type Shared } from "./running-cell.ts"

/** A function binding as cells see it. */
export interface BoundFunction {
  readonly cellFunction: AnyFunction
  /** What is called from now on, also by those who kept the function. */
  target: FunctionBinding
}

const originals = new WeakMap<object, () => object>()
const reals = new WeakMap<object, object>()
const stands = new WeakMap<object, WeakMap<Shared, { stand: object; epoch: number }>>()

/** Makes every call of a function pass the gate of the cell that calls it, however the function got there. */
export function bindFunction(name: string, target: FunctionBinding, shared: Shared): BoundFunction {
  const { epoch } = shared
  const bound: BoundFunction = {
    target,
    // An arrow function behind it, so `new` cannot go round the gate; what else the function has, it shows.
    cellFunction: new Proxy<AnyFunction>(named(name), {
      apply(_target, _this, args: unknown[]) {
        // The host may have kept a function of a cell that is long gone.
        if (shared.epoch !== epoch) throw new Error(`${name} was not called: its runtime was reset or closed.`)
        return callBinding(name, bound.target, args, shared)
      },
      get: (_target, key) => Reflect.get(bound.target.call, key),
      set: (_target, key, value) => Reflect.set(bound.target.call, key, value),
    }),
  }
  keepOriginal(bound.cellFunction, () => bound.target.call)
  return bound
}

/** A function that does nothing, to make a stand-in of. */
export function named(name: string): AnyFunction {
  return Object.defineProperty(() => undefined, "name", { value: name })
}

/** Remembers what of the host's something stands for in cells. */
export function keepOriginal(stand: object, original: () => object): void {
  originals.set(stand, original)
}

/** The host's own object or function, where a value stands for one. */
export function originalOf(value: unknown): unknown {
  return isObject(value) ? (originals.get(value)?.() ?? value) : value
}

/** Makes an object stand for another in the cells of a runtime. */
export function standIn(stand: object, real: object, shared: Shared): void {
  keepOriginal(stand, () => real)
  reals.set(stand, real)
  const known = stands.get(real) ?? new WeakMap<Shared, { stand: object; epoch: number }>()
  stands.set(real, known.set(shared, { stand, epoch: shared.epoch }))
}

/** The object that another stands for: what functions of the host get. Functions stay what cells have, so that calls of
 *  them by the host pass the gate as well. */
export function realOf(value: unknown): unknown {
  return isObject(value) ? (reals.get(value) ?? value) : value
}

/** Whether a value stands for an object or function of the host. */
export function isStandIn(value: object): boolean {
  return originals.has(value)
}

/** What stands for an object in the cells of a runtime; nearly every object stands for itself. */
export function standFor(value: unknown, shared: Shared): unknown {
  const known = isObject(value) ? stands.get(value)?.get(shared) : undefined
  return known?.epoch === shared.epoch ? known.stand : value
}

/** A call that a cell makes. */
export interface CellCall {
  binding: string
  method?: string | undefined
  options: CallOptions
  subject?: string | undefined
  accept?: Call["accept"]
  make(args: readonly unknown[]): unknown
}

/** Makes a call for the cell that is running now, by its gate. */
export function callByGate(call: CellCall, given: readonly unknown[], shared: Shared): Promise<unknown> {
  const cell = running.getStore()
  cell?.checkTime()
  const made = perform(call, given, cell, shared)
  if (!cell) return made
  const settle = () => cell.calls.delete(made)
  cell.calls.add(made)
  made.then(settle, settle)
  const result = forCell(made, cell)
  return shared.resultOf
    ? shared.resultOf(result, call.method ? `${call.binding}.${call.method}` : call.binding)
    : result
}

/** Another promise for the cell: ours is handled, and what the cell forgets to await should be known as forgotten. Here
 *  it also settles for the cell, wherever the host's came from, and a stack still knows who waits for it. */
async function forCell(made: Promise<unknown>, cell: RunningCell): Promise<unknown> {
  try {
    const value = await made
    cell.checkTime()
    return value
  } catch (error) {
    cell.callFailed = true
    throw throughCell(error, new Error())
  }
}

function callBinding(name: string, binding: FunctionBinding, args: readonly unknown[], shared: Shared): unknown {
  // A sync call looks at the clock when it returns, which is just before the next one.
  if (binding.options.sync) return callStraight(name, binding, args, shared)
  const { input } = binding.options
  const accept = input === undefined ? undefined : (given: readonly unknown[]) => validArguments(name, binding, given)
  const make = (made: readonly unknown[]) => Reflect.apply(binding.call, undefined, made)
  return callByGate({ binding: name, options: binding.options, accept, make }, args, shared)
}

async function perform(
  { binding, method, options, subject, accept, make }: CellCall,
  given: readonly unknown[],
  cell: RunningCell | undefined,
  shared: Shared,
): Promise<unknown> {
  const real = given.map(realOf)
  const checked = accept ? accept(real) : real
  const args = checked instanceof Promise ? await checked : checked
  const asked = {
    binding,
    method,
    subject,
    args,
    options,
    accept,
    nameOf: shared.nameOf,
    signal: cell?.signal ?? new AbortController().signal,
    make(made: readonly unknown[]) {
      cell?.check()
      cell?.noteCall(method === undefined ? binding : `${binding}.${method}`)
      // Only now: the gate compares and shows the cell's own objects.
      return make(shared.views ? made.map(shared.views.toHost) : made)
    },
  }
  if (!cell && shared.owner === "several") {
    throw new Error(
      `${method === undefined ? binding : `${binding}.${method}`} was not called: it was called outside of every cell, and ` +
        "several agents have used this runtime, so nobody can tell whose approval it needs. Give each agent a runtime of its own.",
    )
  }
  // Without a cell: the host calls a closure that a cell gave it, perhaps as a listener.
  return toCell(await passGate(asked, cell ? cell.gate : shared.gate), shared)
}

function callStraight(name: string, binding: FunctionBinding, given: readonly unknown[], shared: Shared): unknown {
  const cell = running.getStore()
  cell?.check()
  const args = validArguments(name, binding, given.map(shared.views?.toHost ?? realOf))
  if (args instanceof Promise) {
    throw new TypeError(`${name} is bound as sync, but its input schema validates asynchronously.`)
  }
  cell?.noteCall(name)
  const value: unknown = Reflect.apply(binding.call, undefined, args)
  cell?.checkTime()
  return toCell(value, shared)
}

function toCell(value: unknown, shared: Shared): unknown {
  return shared.views ? shared.views.toCell(value) : standFor(value, shared)
}

function validArguments(
  name: string,
  { options: { input } }: FunctionBinding,
  given: readonly unknown[],
): readonly unknown[] | Promise<readonly unknown[]> {
  if (input === undefined) return given
  const tuple = isTuple(input)
  const accept = (validation: Validation): readonly unknown[] => {
    if (!validation.ok) throw new TypeError(`Invalid input of ${name}: ${validation.message}`)
    return tuple && Array.isArray(validation.value) ? validation.value : [validation.value, ...given.slice(1)]
  }
  const validation = check(input, tuple ? given : given[0])
  return validation instanceof Promise ? validation.then(accept) : accept(validation)
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}
