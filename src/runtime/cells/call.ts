import { newId } from "../../core/message.ts"
import type { AnyFunction, FunctionBinding } from "../bindings.ts"
import type { CallGate } from "../runtime.ts"
import { check, isTuple, type Validation } from "../schema.ts"
import { type RunningCell, running, type Shared } from "./running-cell.ts"

/** A function binding as cells see it. */
export interface BoundFunction {
  readonly cellFunction: AnyFunction
  /** What is called from now on, also by those who kept the function. */
  target: FunctionBinding
}

const originals = new WeakMap<object, BoundFunction>()

/** Makes every call of a function pass the gate of the cell that calls it, however the function got there. */
export function bindFunction(name: string, target: FunctionBinding, shared: Shared): BoundFunction {
  const { epoch } = shared
  const stand = () => undefined
  Object.defineProperty(stand, "name", { value: name })
  const bound: BoundFunction = {
    target,
    // An arrow function behind it, so `new` cannot go round the gate; what else the function has, it shows.
    cellFunction: new Proxy<AnyFunction>(stand, {
      apply(_target, _this, args: unknown[]) {
        // The host may have kept a function of a cell that is long gone.
        if (shared.epoch !== epoch) throw new Error(`${name} was not called: its runtime was reset or closed.`)
        return callBinding(name, bound.target, args, shared)
      },
      get: (_target, key) => Reflect.get(bound.target.call, key),
    }),
  }
  originals.set(bound.cellFunction, bound)
  return bound
}

/** The host's own function, where a value stands for one. */
export function originalOf(value: unknown): unknown {
  if (typeof value !== "function") return value
  return originals.get(value)?.target.call ?? value
}

function callBinding(name: string, binding: FunctionBinding, args: readonly unknown[], shared: Shared): unknown {
  const cell = running.getStore()
  // A sync call looks at the clock when it returns, which is just before the next one.
  if (binding.options.sync) return callStraight(name, binding, args, cell)
  cell?.checkTime()
  // Without a cell: the host calls a closure that a cell gave it, perhaps as a listener.
  const call = perform({ name, binding, cell, gate: cell ? cell.gate : shared.gate }, args)
  if (!cell) return call
  const settle = () => cell.calls.delete(call)
  cell.calls.add(call)
  call.then(settle, settle)
  // Another promise for the cell: ours is handled, and what the cell forgets to await should be known as forgotten.
  // Its rejection is made by a handler, which runs for the cell wherever the host's came from.
  return call.then(
    (value) => {
      cell.checkTime()
      return value
    },
    (error) => {
      throw error
    },
  )
}

interface Caller {
  name: string
  binding: FunctionBinding
  cell: RunningCell | undefined
  gate: CallGate | undefined
}

async function perform({ name, binding, cell, gate }: Caller, given: readonly unknown[]): Promise<unknown> {
  const checked = validArguments(name, binding, given)
  const args = checked instanceof Promise ? await checked : checked
  let called = false
  const next = async () => {
    if (called) throw new Error(`The gate called ${name} twice; next() is for one call.`)
    called = true
    cell?.check()
    cell?.noteCall(name)
    return await Reflect.apply(binding.call, undefined, args)
  }
  if (!gate) return next()
  const { approve = false } = binding.options
  const signal = cell?.signal ?? new AbortController().signal
  return gate({ id: newId("call"), binding: name, args, approve, signal }, next)
}

function callStraight(
  name: string,
  binding: FunctionBinding,
  given: readonly unknown[],
  cell: RunningCell | undefined,
): unknown {
  cell?.check()
  const args = validArguments(name, binding, given)
  if (args instanceof Promise) {
    throw new TypeError(`${name} is bound as sync, but its input schema validates asynchronously.`)
  }
  cell?.noteCall(name)
  const value: unknown = Reflect.apply(binding.call, undefined, args)
  cell?.checkTime()
  return value
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
