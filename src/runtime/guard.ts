import { types } from "node:util"
import type { Binding, CallOptions, MethodGuard } from "./bindings.ts"

/** A guarded method: by which name calls of it are told, and what holds for them. */
export interface Guarded {
  binding: string
  method: string
  options: CallOptions
}

/** The guarded methods of the objects of one runtime, found by the object itself, however somebody came by it. */
export interface Guards {
  /** Takes note of what a binding guards. What its earlier values had guarded stays so. */
  add(name: string, binding: Binding): void
  /** What guards a method of an object, or the function itself when it is called by nobody's name. */
  find(owner: unknown, method: string | undefined, member: unknown): Guarded | undefined
}

export function createGuards(): Guards {
  const methods = new WeakMap<object, Map<string, Guarded>>()
  const functions = new WeakMap<object, Guarded>()
  return {
    add(name, binding) {
      if (binding.kind !== "variable" || !binding.guard || !isObject(binding.value)) return
      const known = methods.get(binding.value) ?? new Map<string, Guarded>()
      methods.set(binding.value, known)
      for (const [method, options] of guardEntries(binding.guard)) {
        const guarded = { binding: name, method, options }
        known.set(method, guarded)
        const member = types.isProxy(binding.value) ? undefined : memberOf(binding.value, method)?.value
        if (isObject(member)) functions.set(member, guarded)
      }
    },
    find(owner, method, member) {
      const ofOwner = method !== undefined && isObject(owner) ? methods.get(owner)?.get(method) : undefined
      // A method of a class is shared by all its instances, of which others may not be guarded.
      return ofOwner ?? (method === undefined && isObject(member) ? functions.get(member) : undefined)
    },
  }
}

/** The methods that a guard names, each with what holds for it. */
export function guardEntries(guard: MethodGuard): [string, CallOptions][] {
  return Object.entries(guard).flatMap(([method, options]) => (options ? [[method, options]] : []))
}

/** Why a guard cannot guard a value; undefined when it can. */
export function guardProblem(value: unknown, guard: MethodGuard): string | undefined {
  if (!isObject(value)) return "`guard` is for an object with methods, and the value is none."
  if (Object.getOwnPropertySymbols(guard).length > 0)
    return "`guard` takes methods by name; a symbol cannot be guarded."
  for (const [method, options] of guardEntries(guard)) {
    const problem = memberProblem(value, method) ?? callOptionsProblem(options)
    if (problem !== undefined) return `\`guard.${method}\`: ${problem}`
  }
  return undefined
}

/** The same for a binding, which may have got another value. */
export function keptGuardProblem(binding: Binding): string | undefined {
  return binding.kind === "variable" && binding.guard ? guardProblem(binding.value, binding.guard) : undefined
}

/** Whether what is guarded would be copied into another process, methods and all. */
export function isGuardedCopy(binding: Binding): boolean {
  if (binding.kind !== "variable" || !binding.guard || types.isProxy(binding.value)) return false
  const { value } = binding
  return Array.isArray(value) || isData.some((is) => is(value))
}

export const guardedCopy =
  "is data, of which cells get a copy: its methods cannot be guarded. Guard an object around it"

const isData = [types.isMap, types.isSet, types.isDate, types.isRegExp, types.isAnyArrayBuffer, types.isArrayBufferView]

/** What is wrong with what a call is held to; undefined when nothing is. */
export function callOptionsProblem({ approve, maxCalls, timeoutMs }: CallOptions): string | undefined {
  if (approve !== undefined && typeof approve !== "boolean" && typeof approve !== "function") {
    return "`approve` is true, false or a function of the call."
  }
  if (maxCalls !== undefined && (!Number.isInteger(maxCalls) || maxCalls < 0)) {
    return `\`maxCalls\` is a whole number of at least 0, not ${String(maxCalls)}.`
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0)) {
    return `\`timeoutMs\` is a number above 0, not ${String(timeoutMs)}.`
  }
  return undefined
}

/** A member of an object or of its classes, up to what every object has; nothing is run. */
export function memberOf(value: object, name: string): PropertyDescriptor | undefined {
  for (let holder: object | null = value; holder && !roots.has(holder); holder = Object.getPrototypeOf(holder)) {
    const found = Object.getOwnPropertyDescriptor(holder, name)
    if (found) return found
  }
  return undefined
}

function memberProblem(value: object, method: string): string | undefined {
  // What is behind a proxy is its owner's affair, and looking would run it.
  if (types.isProxy(value)) return undefined
  const found = method === "constructor" ? undefined : memberOf(value, method)
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

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}

const roots = new Set<object>([Object.prototype, Function.prototype])
