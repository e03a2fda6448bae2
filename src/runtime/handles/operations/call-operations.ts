// Calls of host functions, methods and classes that a peer asks for, through the call gate of the calling cell.
import { isObject } from "../../../core/object.ts"
import { agentCallOptions } from "../../bindings/cell-agent.ts"
import { callThroughGate } from "../../bindings/gated-call.ts"
import { isClass } from "../../bindings.ts"
import { isTuple, validateMaybeSync } from "../../schema.ts"
import type { Caller } from "../caller.ts"
import type { BoundFunction, GatedFunctions, GatedMethod } from "../gated-functions.ts"
import { pathFromBinding } from "../host-objects.ts"
import type { HostAccess, Operation } from "../operations.ts"
import { refuseBuiltInCallback } from "./builtin-callbacks.ts"
import { placeKeywordArguments } from "./keyword-arguments.ts"
import { pathEnded, readMember, readPath } from "./reachable-members.ts"

/** Calls or constructs the function that an operation's path leads to. */
export async function callHostMember(
  operation: Operation,
  title: string,
  access: HostAccess,
  caller: Caller,
): Promise<unknown> {
  const { op, object, path, optional, args, keywordArgs } = operation
  const { value, binding, bound } = object
  if (bound && path.length === 0) {
    if (op === "new") throw new TypeError(`${title} is a function binding and cannot be constructed`)
    return callBoundFunction(bound, args, caller, keywordArgs)
  }
  const key = path.at(-1)
  const owner = key === undefined ? undefined : ownerOf(value, path, access, optional)
  const member = owner === pathEnded ? undefined : key === undefined ? value : readMember(owner, key)
  const isOptional = owner === pathEnded || optional.includes(path.length)
  if (isOptional && (member === null || member === undefined)) return undefined
  if (typeof member !== "function") {
    const kind = op === "new" ? "class" : "function"
    throw new TypeError(member === undefined ? `${title} does not exist` : `${title} is not a ${kind}`)
  }
  // A cell stored a gated function here, which passes the gate itself.
  const stored = access.functions.findBinding(member)
  if (stored && op === "call") return callBoundFunction(stored, args, caller, keywordArgs)
  const method = access.functions.methodOf(member)
  if (method && op === "call") return callGatedMethod(method, args, caller, access, keywordArgs)
  if (stored || method) throw new TypeError(`${title} is a function that passes the gate and cannot be constructed`)
  refuseBuiltInCallback(member, args, title)
  const guarded = access.guards.find(owner, key, member)
  const all = placeKeywordArguments(args, keywordArgs, { name: title, call: member, owner: owner ?? value })
  const isConstruction = op === "new" || (key === undefined && isClass(member))
  const suffix = isConstruction ? "new" : "call"
  const options = agentCallOptions(owner) ?? {}
  const memberPath = pathFromBinding(object, path)
  const plain = { binding, method: memberPath || suffix, options }
  const apply = (made: readonly unknown[]): unknown => Reflect.apply(member, owner, made)
  const make = (made: readonly unknown[]) => {
    if (isConstruction) return Reflect.construct(member, made)
    return access.wrapCall ? access.wrapCall(owner, () => apply(made)) : apply(made)
  }
  return callForCaller(
    {
      ...plain,
      ...(op === "new" && path.length > 0 && { method: `${memberPath}.${suffix}` }),
      ...guarded,
      args: all,
      make,
    },
    caller,
  )
}

/** Returns the object that has the last member of a path, and records that a cell used it. */
export function ownerOf(
  value: unknown,
  path: readonly string[],
  { usedObjects }: HostAccess,
  optional: readonly number[] = [],
): unknown {
  const owner = readPath(value, path.slice(0, -1), optional)
  if (isObject(owner)) usedObjects.markUsed(owner)
  return owner
}

/** Calls a function binding through the caller's gate. */
export async function callBoundFunction(
  { name, target }: BoundFunction,
  given: readonly unknown[],
  caller: Caller,
  keywordArgs: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const accept = (args: readonly unknown[]) => validateInput(target, name, args)
  const args = await accept(placeKeywordArguments(given, keywordArgs, { name, call: target.call, target }))
  const make = (made: readonly unknown[]) => Reflect.apply(target.call, undefined, made)
  const call = { binding: name, method: undefined, args, options: target.options, make }
  return callForCaller(target.options.input === undefined ? call : { ...call, accept }, caller)
}

/** Calls a method that a cell passed on, through the caller's gate. */
export async function callGatedMethod(
  method: GatedMethod,
  given: readonly unknown[],
  caller: Caller,
  { functions, guards, usedObjects }: Pick<HostAccess, "functions" | "guards" | "usedObjects">,
  keywordArgs: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  usedObjects.markUsed(method.owner)
  const { owner, name, bindingName, pathFromBinding: memberPath, member } = resolveStoredMethod(method, functions)
  const title = `${bindingName}.${memberPath}`
  if (typeof member !== "function") throw new TypeError(`${title} is not a function`)
  const bound = functions.findBinding(member)
  if (bound) return callBoundFunction(bound, given, caller, keywordArgs)
  refuseBuiltInCallback(member, given, title)
  const args = placeKeywordArguments(given, keywordArgs, { name: title, call: member, owner })
  const guarded = guards.find(owner, name, member)
  const make = (made: readonly unknown[]) => Reflect.apply(member, owner, made)
  const options = agentCallOptions(owner) ?? {}
  return callForCaller({ binding: bindingName, method: memberPath, options, ...guarded, args, make }, caller)
}

/** Finds the function that a method is now. The field may hold a method of another object that a cell stored there. */
function resolveStoredMethod(method: GatedMethod, functions: GatedFunctions): GatedMethod & { member: unknown } {
  let found = method
  for (let step = 0; step < maxStoredSteps; step++) {
    const member = readMember(found.owner, found.name)
    const stored = typeof member === "function" ? functions.methodOf(member) : undefined
    if (!stored) return { ...found, member }
    found = stored
  }
  throw new TypeError(`${method.bindingName}.${method.pathFromBinding} leads to no function, but back to itself.`)
}

const maxStoredSteps = 32

type GatedCall = Omit<Parameters<typeof callThroughGate>[0], "signal">

/** Passes a call through the caller's gate. Throws before and after the gate if the cell was stopped. */
export function callForCaller(call: GatedCall, caller: Caller): Promise<unknown> {
  const make = (args: readonly unknown[]) => {
    caller.throwIfStopped()
    return call.make(args)
  }
  caller.throwIfStopped()
  return callThroughGate({ ...call, make, signal: caller.signal, nameOf: caller.nameOf }, caller.gate)
}

async function validateInput({ options: { input } }: BoundFunction["target"], name: string, args: readonly unknown[]) {
  if (input === undefined) return args
  const tuple = isTuple(input)
  const validation = await validateMaybeSync(input, tuple ? args : args[0])
  if (!validation.ok) throw new TypeError(`Invalid input of ${name}: ${validation.message}`)
  return tuple && Array.isArray(validation.value) ? validation.value : [validation.value, ...args.slice(1)]
}
