// Host functions and methods that a cell passes on to host code. Host code receives a gated function: each of its calls
// passes the call gate of a cell, under any name and at any later time.
import type { AnyFunction, FunctionBinding } from "../bindings.ts"
import { type Caller, currentCaller } from "./caller.ts"
import { reportIfUnawaited } from "./pending-result.ts"

/** A function binding of one runtime. */
export interface BoundFunction {
  readonly name: string
  /** The function to call. After a rebinding, gated functions that were passed on before call the new one. */
  target: FunctionBinding
  /** The function that host code receives when a cell passes this binding. It is always the same function. */
  readonly gated: AnyFunction
}

/** A method that a cell passed on without its object. */
export interface GatedMethod {
  readonly owner: object
  readonly name: string
  /** The binding through which the cell reached the owner. */
  readonly bindingName: string
  /** The members from the binding to the method, for example `runtime.update`. */
  readonly pathFromBinding: string
}

/** Performs the calls of gated functions through the caller's gate. */
export interface GatedCalls {
  callBound(bound: BoundFunction, args: readonly unknown[], caller: Caller): Promise<unknown>
  callMethod(method: GatedMethod, args: readonly unknown[], caller: Caller): Promise<unknown>
}

export interface GatedFunctions {
  /** Binds a name to a function, or rebinds it to another one. */
  bind(name: string, target: FunctionBinding): BoundFunction
  find(name: string): BoundFunction | undefined
  /** Returns the gated form of a bound function or method, and records `caller` as the last cell that passed it on. */
  passBound(bound: BoundFunction, caller: Caller): AnyFunction
  /** The first path by which a method was passed on names it until the reset. */
  passMethod(method: GatedMethod, caller: Caller): AnyFunction
  /** Returns the binding of a bound function or of its gated form. */
  findBinding(value: object): BoundFunction | undefined
  /** Returns the method behind a gated function. */
  methodOf(value: object): GatedMethod | undefined
  /** Called when the runtime is reset or closed. After that, functions passed on earlier throw when called. */
  reset(): void
}

export function createGatedFunctions(calls: GatedCalls): GatedFunctions {
  const bound = new Map<string, BoundFunction>()
  let byFunction = new WeakMap<object, BoundFunction>()
  let methods = new WeakMap<object, Map<string, AnyFunction>>()
  const methodOf = new WeakMap<object, GatedMethod>()
  /** The last cell that passed a gated function on. Its gate applies to calls that host code makes outside any cell. */
  const passedBy = new WeakMap<object, Caller>()
  let epoch = 0

  const createGated = (name: string, call: (args: unknown[], caller: Caller) => Promise<unknown>): AnyFunction => {
    const createdIn = epoch
    const gated = (...args: unknown[]) => {
      const caller = currentCaller.getStore() ?? passedBy.get(gated)
      if (!caller || createdIn !== epoch) throw new Error(`${name} was not called: its runtime was reset or closed.`)
      return reportIfUnawaited(call(args, caller), name, caller, {})
    }
    return Object.defineProperty(gated, "name", { value: name })
  }

  const pass = (gated: AnyFunction, caller: Caller) => {
    passedBy.set(gated, caller)
    return gated
  }

  return {
    bind(name, target) {
      const known = bound.get(name)
      const entry: BoundFunction = known ?? {
        name,
        target,
        gated: createGated(name, (args, caller) => calls.callBound(entry, args, caller)),
      }
      entry.target = target
      bound.set(name, entry)
      byFunction.set(entry.gated, entry)
      // If one function has two bindings, the plain function belongs to the first binding.
      const first = byFunction.get(target.call)
      if (!first || first.target.call !== target.call) byFunction.set(target.call, entry)
      return entry
    },
    find: (name) => bound.get(name),
    passBound: ({ gated }, caller) => pass(gated, caller),
    passMethod(method, caller) {
      const ofOwner = methods.get(method.owner) ?? new Map<string, AnyFunction>()
      methods.set(method.owner, ofOwner)
      const known = ofOwner.get(method.name)
      if (known) return pass(known, caller)
      const { bindingName, pathFromBinding } = method
      const call = (args: unknown[], by: Caller) => calls.callMethod(method, args, by)
      const gated = createGated(`${bindingName}.${pathFromBinding}`, call)
      ofOwner.set(method.name, gated)
      methodOf.set(gated, method)
      return pass(gated, caller)
    },
    findBinding(value) {
      const entry = byFunction.get(value)
      return entry && (entry.gated === value || entry.target.call === value) ? entry : undefined
    },
    methodOf: (value) => methodOf.get(value),
    reset() {
      epoch++
      bound.clear()
      byFunction = new WeakMap()
      methods = new WeakMap()
    },
  }
}
