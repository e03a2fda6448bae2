import type { AnyFunction, FunctionBinding } from "../bindings.ts"
import { type Caller, currentCaller } from "./caller.ts"
import { reportIfUnawaited } from "./unawaited-calls.ts"

// Functions of the host that a cell passes on to host code. The code receives gated functions: each call of one passes
// the gate of a cell, under any name and at any later time.

/** A function binding of one runtime. */
export interface BoundFunction {
  readonly name: string
  /** The function that is called from now on, also where the gated function was stored before. */
  target: FunctionBinding
  /** What host code gets when a cell passes the function; always the same function. */
  readonly gated: AnyFunction
}

/** A method of a host object that a cell passed on by itself. */
export interface GatedMethod {
  readonly owner: object
  readonly name: string
  /** The binding through which the owner was reached. */
  readonly binding: string
  /** The members from the binding to the method: `runtime.update`. */
  readonly pathFromBinding: string
}

/** Makes calls of gated functions for a caller. */
export interface GatedCalls {
  callBound(bound: BoundFunction, args: readonly unknown[], caller: Caller): Promise<unknown>
  callMethod(method: GatedMethod, args: readonly unknown[], caller: Caller): Promise<unknown>
}

export interface GatedFunctions {
  /** Binds a name to a function, or to another one. */
  bind(name: string, target: FunctionBinding): BoundFunction
  find(name: string): BoundFunction | undefined
  /** The gated form of a bound function or method, passed on by `caller`. */
  passBound(bound: BoundFunction, caller: Caller): AnyFunction
  passMethod(method: GatedMethod, caller: Caller): AnyFunction
  /** The binding that a function is bound by, or stands for in its gated form. */
  boundBy(value: object): BoundFunction | undefined
  /** The method that a gated function stands for. */
  methodOf(value: object): GatedMethod | undefined
  /** The runtime is reset or closed: functions that were passed on before throw when they are called. */
  reset(): void
}

export function createGatedFunctions(calls: GatedCalls): GatedFunctions {
  const bound = new Map<string, BoundFunction>()
  let byFunction = new WeakMap<object, BoundFunction>()
  let methods = new WeakMap<object, Map<string, AnyFunction>>()
  const methodOf = new WeakMap<object, GatedMethod>()
  /** Who passed a gated function last: judges calls that host code makes outside of any cell. */
  const passedBy = new WeakMap<object, Caller>()
  let epoch = 0

  const gate = (name: string, call: (args: unknown[], caller: Caller) => Promise<unknown>): AnyFunction => {
    const born = epoch
    const gated = (...args: unknown[]) => {
      const caller = currentCaller.getStore() ?? passedBy.get(gated)
      if (!caller || born !== epoch) throw new Error(`${name} was not called: its runtime was reset or closed.`)
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
      const made: BoundFunction = known ?? {
        name,
        target,
        gated: gate(name, (args, caller) => calls.callBound(made, args, caller)),
      }
      made.target = target
      bound.set(name, made)
      byFunction.set(made.gated, made)
      // One function under two names is two bindings; on its own it is the first.
      const first = byFunction.get(target.call)
      if (!first || first.target.call !== target.call) byFunction.set(target.call, made)
      return made
    },
    find: (name) => bound.get(name),
    passBound: ({ gated }, caller) => pass(gated, caller),
    passMethod(method, caller) {
      const ofOwner = methods.get(method.owner) ?? new Map<string, AnyFunction>()
      methods.set(method.owner, ofOwner)
      const known = ofOwner.get(method.name)
      if (known) return pass(known, caller)
      const gated = gate(`${method.binding}.${method.pathFromBinding}`, (args, by) =>
        calls.callMethod(method, args, by),
      )
      ofOwner.set(method.name, gated)
      methodOf.set(gated, method)
      return pass(gated, caller)
    },
    boundBy(value) {
      const found = byFunction.get(value)
      return found && (found.gated === value || found.target.call === value) ? found : undefined
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
