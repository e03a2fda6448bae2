// The guarded methods of a runtime's objects: which calls need the call gate, and the checks of `guard` options.
import { types } from "node:util"
import * as check from "../../core/checks/check-options.ts"
import { isObject } from "../../core/object.ts"
import type { Binding, CallOptions, MethodGuard } from "../bindings.ts"
import { mergeCallOptions } from "./merge-call-options.ts"

export interface GuardedMethod {
  /** The name under which the object was guarded first. A second name of the same object shares the guard. */
  binding: string
  method: string
  /** The merged options of all guards of the method: the stricter option wins. */
  options: CallOptions
  object: object
  /** Identifies object and method in stored data: the key of an "always" approval and of journal entries. It is
   *  `binding.method` for the first object of that name, and `binding#2.method` for the second. */
  subject: string
}

/** The guarded methods of the objects of one runtime. A guard is found by the object or by the function itself, so it
 *  does not matter how a cell reached the method. */
export interface MethodGuards {
  /** Registers the guard of a binding. An object stays guarded, also after its name gets another value. */
  add(name: string, binding: Binding): void
  /** Finds the guard of a call: `fn` was read from `owner` under `key`. Pass `undefined` for an unknown owner or key,
   *  such as those of a function that was read from its object earlier.
   *
   *  1. `owner` is guarded under `key`: that guard.
   *  2. `fn` is a guarded function: its guard, unless `owner` is another instance of the class that shares the method.
   *     So a method stays guarded if it is read, renamed, stored in another object, called with `new` or reached
   *     through a Proxy.
   *  3. `fn` is `call` or `apply` of a guarded function (the `owner`): the guard of that function.
   *
   *  A function found by rule 1 is remembered for rule 2, so call this also when a member is only read. */
  find(owner: unknown, key: PropertyKey | undefined, fn: unknown): GuardedMethod | undefined
  /** The guarded methods of an object; undefined if it has none. */
  methodsOf(object: object): ReadonlyMap<string, GuardedMethod> | undefined
  /** Increases with each added guard. Earlier results of `find` may then be outdated. */
  readonly version: number
}

export function createMethodGuards(): MethodGuards {
  const methods = new WeakMap<object, Map<string, GuardedMethod>>()
  const functions = new WeakMap<object, Set<GuardedMethod>>()
  const names = new WeakMap<object, { name: string; id: string }>()
  const objectsOfName = new Map<string, number>()
  let version = 0

  const nameOfObject = (object: object, name: string) => {
    const registered = names.get(object)
    if (registered) return registered
    const count = (objectsOfName.get(name) ?? 0) + 1
    objectsOfName.set(name, count)
    const made = { name, id: count === 1 ? name : `${name}#${count}` }
    names.set(object, made)
    return made
  }

  const rememberFunction = (fn: unknown, guarded: GuardedMethod) => {
    if (typeof fn !== "function") return
    const registered = functions.get(fn) ?? new Set<GuardedMethod>()
    functions.set(fn, registered.add(guarded))
  }

  const guardOfFunction = (owner: unknown, fn: unknown): GuardedMethod | undefined => {
    const registered = isObject(fn) ? functions.get(fn) : undefined
    if (
      !registered ||
      (isObject(owner) && !types.isProxy(owner) && !methods.has(owner) && inheritsSharedMethod(owner, fn, registered))
    )
      return undefined
    const all = [...registered]
    return all.find(({ object }) => object === owner) ?? mergeGuardedMethods(all)
  }

  return {
    add(name, binding) {
      if (binding.kind !== "variable" || !binding.guard || !isObject(binding.value)) return
      const object = binding.value
      version++
      const objectGuards = methods.get(object) ?? new Map<string, GuardedMethod>()
      methods.set(object, objectGuards)
      const { name: first, id } = nameOfObject(object, name)
      for (const [method, options] of guardEntries(binding.guard)) {
        const registered = objectGuards.get(method)
        const guarded = registered ?? { binding: first, method, options, object, subject: `${id}.${method}` }
        if (registered) registered.options = mergeCallOptions(registered.options, options)
        objectGuards.set(method, guarded)
        if (!types.isProxy(object)) rememberFunction(findMember(object, method)?.value, guarded)
      }
    },
    find(owner, key, fn) {
      const ownGuard = typeof key === "string" && isObject(owner) ? methods.get(owner)?.get(key) : undefined
      if (ownGuard) rememberFunction(fn, ownGuard)
      return (
        ownGuard ?? guardOfFunction(owner, fn) ?? (callAndApply.has(fn) ? guardOfFunction(undefined, owner) : undefined)
      )
    },
    methodsOf: (object) => methods.get(object),
    get version() {
      return version
    },
  }
}

const callAndApply = new Set<unknown>([Function.prototype.call, Function.prototype.apply])

/** Returns true if an unguarded object inherits the function from a class that it shares with the guarded objects. */
function inheritsSharedMethod(owner: object, fn: unknown, guarded: ReadonlySet<GuardedMethod>): boolean {
  return [...guarded].every(({ object, method }) => {
    if (types.isProxy(object)) return false
    for (let holder = Object.getPrototypeOf(object); holder; holder = Object.getPrototypeOf(holder)) {
      if (Object.getOwnPropertyDescriptor(holder, method)?.value === fn)
        return Object.prototype.isPrototypeOf.call(holder, owner)
    }
    return false
  })
}

/** The guard of a function that several guarded objects share, for a call whose object is unknown. */
function mergeGuardedMethods(all: readonly GuardedMethod[]): GuardedMethod | undefined {
  const [first, ...others] = all
  if (!first || others.length === 0) return first
  const options = others.map((each) => each.options).reduce(mergeCallOptions, first.options)
  return { ...first, options, subject: all.map(({ subject }) => subject).join("|") }
}

export function guardEntries(guard: MethodGuard): [string, CallOptions][] {
  return Object.entries(guard).flatMap(([method, options]) => (options ? [[method, options]] : []))
}

/** Explains why a guard cannot guard a value; undefined if it can. */
export function guardProblem(value: unknown, guard: MethodGuard): string | undefined {
  if (!isObject(value)) return "`guard` is for an object with methods, and the value is none."
  if (Object.getOwnPropertySymbols(guard).length > 0)
    return "`guard` takes methods by name; a symbol cannot be guarded."
  for (const [method, options] of guardEntries(guard)) {
    const problem = guardedMemberProblem(value, method)
    if (problem !== undefined) return `\`guard.${method}\`: ${problem}`
    const [wrong] = check.optionProblems(options, callOptionChecks, `guard.${method}`)
    if (wrong !== undefined) return `${wrong}.`
  }
  return undefined
}

/** The same check for a binding, whose value may have been replaced. */
export function bindingGuardProblem(binding: Binding): string | undefined {
  return binding.kind === "variable" && binding.guard ? guardProblem(binding.value, binding.guard) : undefined
}

/** Returns true if the guarded value would be copied into another process together with its methods. */
export function isGuardOnCopiedValue(binding: Binding): boolean {
  if (binding.kind !== "variable" || !binding.guard || types.isProxy(binding.value)) return false
  const { value } = binding
  return Array.isArray(value) || copiedTypeChecks.some((is) => is(value))
}

export const guardedCopyProblem =
  "is data, of which cells get a copy: its methods cannot be guarded. Guard an object around it"

const copiedTypeChecks = [
  types.isMap,
  types.isSet,
  types.isDate,
  types.isRegExp,
  types.isAnyArrayBuffer,
  types.isArrayBufferView,
]

/** Checks of `CallOptions`. */
export const callOptionChecks: check.OptionChecks<CallOptions> = {
  approve: check.mustBeEither("true, false or a function of the call", check.mustBeBoolean, check.mustBeFunction),
  maxCalls: check.mustBeLimit(0),
  timeoutMs: check.mustBeLimit(1),
  idempotent: check.mustBeBoolean,
  unknown: check.mustBeOneOf("ask", "fail", "retry"),
  journal: check.mustBeBoolean,
}

/** Finds a member of an object or of its classes, except those that every object has. Runs no code of the object. */
export function findMember(value: object, name: string): PropertyDescriptor | undefined {
  for (
    let holder: object | null = value;
    holder && !basePrototypes.has(holder);
    holder = Object.getPrototypeOf(holder)
  ) {
    const found = Object.getOwnPropertyDescriptor(holder, name)
    if (found) return found
  }
  return undefined
}

function guardedMemberProblem(value: object, method: string): string | undefined {
  // The target of a proxy cannot be inspected without running the proxy's code.
  if (types.isProxy(value)) return undefined
  const found = method === "constructor" ? undefined : findMember(value, method)
  if (!found) return "the object has no such method. #private ones and those of Object cannot be guarded."
  if (found.get || found.set)
    return "it is a getter or setter, which cannot wait. Guard a method that reads or writes it."
  if (typeof found.value !== "function" || isClassText(found.value))
    return "it is no method. Only methods can be guarded."
  return undefined
}

function isClassText(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}

const basePrototypes = new Set<object>([Object.prototype, Function.prototype])
