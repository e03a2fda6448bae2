import { types } from "node:util"
import { agentCallOptions } from "../bindings/cell-agent.ts"
import { callThroughGate } from "../bindings/gated-call.ts"
import type { MethodGuards } from "../bindings/method-guards.ts"
import type { UsedObjects } from "../bindings/used-objects.ts"
import type { AnyFunction } from "../bindings.ts"
import { isClass } from "../bindings.ts"
import { isTuple, validateMaybeSync } from "../schema.ts"
import { type Caller, currentCaller } from "./caller.ts"
import type { BoundFunction, GatedFunctions, GatedMethod } from "./gated-functions.ts"
import { type HostObject, pathFromBinding } from "./host-objects.ts"
import { objectShapeOf } from "./object-shapes.ts"
import { refuseBuiltInCallback } from "./operations/builtin-callbacks.ts"
import { collectElements, iteratorMethod, methodBySymbol, startIterator } from "./operations/iteration.ts"
import { placeKeywordArguments } from "./operations/keyword-arguments.ts"
import {
  findProperty,
  hasMember,
  isMethod,
  isReserved,
  pathEnded,
  readMember,
  readPath,
  writeMember,
} from "./operations/reachable-members.ts"
import { isPeerObject } from "./peer-objects.ts"
import { appendMember, ForgedMessage, isObject } from "./wire.ts"

/** What a peer asks the host to do with one of the host's objects. */
export interface Operation {
  op: "call" | "new" | "get" | "set" | "iterate" | "list" | "members" | "instance" | "dispose"
  object: HostObject
  /** Members from the object to what is meant. */
  path: readonly string[]
  /** `get`, `call` and `new`: after so many steps of the path, null and undefined end it, and the result is undefined. */
  optional: readonly number[]
  args: readonly unknown[]
  /** Arguments passed by keyword. */
  keywordArgs: Readonly<Record<string, unknown>>
  /** `set`: the value is a changed copy of what the field holds. */
  isCopy: boolean
  /** The digest of the copy when it was read, empty where the peer does not know it, and how to make that of the field
   *  now. */
  copyState?: { digest: string; now(value: unknown): string | undefined } | undefined
}

/** What came of an operation: a value, or a method, which the peer calls through its owner. */
export type OperationResult = { value: unknown; method?: undefined } | { method: GatedMethod }

export interface HostAccess {
  readonly functions: GatedFunctions
  /** The guarded methods of objects. */
  readonly guards: MethodGuards
  /** Objects to which cells may add members. */
  readonly extensible: WeakSet<object>
  /** The host objects that cells have used. */
  readonly used: UsedObjects
  /** The error for reading a member that does not exist. Default: such a member is undefined. */
  readonly missing?: ((title: string) => Error) | undefined
  /** Gives an assigned value the types of the old one, where the peer's language does not tell them apart. */
  readonly fit?: ((value: unknown, old: () => unknown) => unknown) | undefined
  /** Makes a call of a method; for languages that need to know whose method host code runs. Default: calls it. */
  readonly around?: (<T>(owner: unknown, call: () => T) => T) | undefined
}

/** Does what a peer asks, as the cell it works for: every call passes the gate. */
export function performOperation(
  operation: Operation,
  access: HostAccess,
  caller: Caller,
): OperationResult | Promise<OperationResult> {
  access.used.markUsed(operation.object.original)
  // Reading plain data runs no code, so it needs no context, and its answer no promise.
  if (operation.op === "get" && operation.path.length === 1) {
    const { value: owner } = operation.object
    const held = types.isProxy(owner) ? undefined : findProperty(owner, operation.path[0] ?? "")
    if (held && "value" in held && !isObject(held.value) && !isReserved(owner, operation.path[0] ?? ""))
      return { value: held.value }
  }
  return caller.runInContext(() => currentCaller.run(caller, performInContext, operation, access, caller))
}

async function performInContext(operation: Operation, access: HostAccess, caller: Caller): Promise<OperationResult> {
  const { op, object, path, args } = operation
  const { value, binding } = object
  const title = path.reduce(appendMember, object.title)
  switch (op) {
    case "call":
    case "new":
      return { value: await callHostMember(operation, title, access, caller) }
    case "get": {
      const owner = ownerOf(value, path, access, operation.optional)
      if (owner === pathEnded) return { value: undefined }
      const key = path.at(-1)
      const member = key === undefined ? value : await readMember(owner, key)
      if (member === undefined && access.missing && !hasMember(owner, key)) throw access.missing(title)
      const stored = typeof member === "function" ? access.functions.methodOf(member) : undefined
      if (stored) return { method: stored }
      if (
        !isObject(owner) ||
        key === undefined ||
        !isMethod(member) ||
        access.functions.boundBy(Object(member)) ||
        isPeerObject(member)
      ) {
        return { value: member }
      }
      return { method: { owner, name: key, binding, pathFromBinding: pathFromBinding(object, path) } }
    }
    case "set": {
      const key = path.at(-1)
      if (key === undefined) throw new ForgedMessage("an assignment to no member")
      const owner = ownerOf(value, path, access)
      const given = access.fit ? access.fit(args[0], () => readMember(owner, key)) : args[0]
      const { copyState: readAs } = operation
      const isStale =
        readAs !== undefined && readAs.digest !== "" && readAs.now(readMember(owner, key)) !== readAs.digest
      writeMember(owner, key, given, { where: title, isCopy: operation.isCopy, rules: writeRules(access) })
      // Whether the assignment replaced something that the cell had not seen, and what the field holds now.
      return { value: readAs && [isStale, readAs.now(readMember(owner, key)) ?? ""] }
    }
    case "iterate": {
      const target = readPath(value, path)
      const guarded = access.guards.find(target, undefined, iteratorMethod(target))
      const make = () => startIterator(target, title)
      return { value: guarded ? await callForCaller({ ...guarded, args: [], make }, caller) : make() }
    }
    case "list": {
      const target = readPath(value, path)
      const guarded = access.guards.find(target, undefined, iteratorMethod(target))
      const make = () => collectElements(target, title)
      return { value: await (guarded ? callForCaller({ ...guarded, args: [], make }, caller) : make()) }
    }
    case "members":
      return { value: memberNames(readPath(value, path)) }
    case "instance":
      return { value: typeof value === "function" && isInstance(args[0], value) }
    case "dispose": {
      const target = readPath(value, path)
      const dispose = methodBySymbol(target, Symbol.asyncDispose) ?? methodBySymbol(target, Symbol.dispose)
      const plain = { binding, method: pathFromBinding(object, [...path, "dispose"]), options: {} }
      const make = () => (dispose ? Reflect.apply(dispose, target, []) : undefined)
      await callForCaller({ ...plain, ...access.guards.find(target, undefined, dispose), args: [], make }, caller)
      return { value: undefined }
    }
  }
}

async function callHostMember(
  operation: Operation,
  title: string,
  access: HostAccess,
  caller: Caller,
): Promise<unknown> {
  const { op, object, path, optional, args, keywordArgs: named } = operation
  const { value, binding, bound } = object
  if (bound && path.length === 0) {
    if (op === "new") throw new TypeError(`${title} is a function binding and cannot be constructed`)
    return callBoundFunction(bound, args, caller, named)
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
  // A gated function that a cell stored here passes the gate by itself.
  const stored = access.functions.boundBy(member)
  if (stored && op === "call") return callBoundFunction(stored, args, caller, named)
  const method = access.functions.methodOf(member)
  if (method && op === "call") return callGatedMethod(method, args, caller, access, named)
  if (stored || method) throw new TypeError(`${title} is a function that passes the gate and cannot be constructed`)
  refuseBuiltInCallback(member, args, title)
  const guarded = access.guards.find(owner, key, member)
  const all = placeKeywordArguments(args, named, { name: title, call: member, owner: owner ?? value })
  const isConstruction = op === "new" || (key === undefined && isClass(member))
  const suffix = isConstruction ? "new" : "call"
  const options = agentCallOptions(owner) ?? {}
  const reached = pathFromBinding(object, path)
  const plain = { binding, method: reached || suffix, options }
  const apply = (made: readonly unknown[]): unknown => Reflect.apply(member, owner, made)
  const make = (made: readonly unknown[]) => {
    if (isConstruction) return Reflect.construct(member, made)
    return access.around ? access.around(owner, () => apply(made)) : apply(made)
  }
  return callForCaller(
    {
      ...plain,
      ...(op === "new" && path.length > 0 && { method: `${reached}.${suffix}` }),
      ...guarded,
      args: all,
      make,
    },
    caller,
  )
}

/** The object whose member is meant. A cell that uses a member uses the object. */
function ownerOf(
  value: unknown,
  path: readonly string[],
  { used }: HostAccess,
  optional: readonly number[] = [],
): unknown {
  const owner = readPath(value, path.slice(0, -1), optional)
  if (isObject(owner)) used.markUsed(owner)
  return owner
}

/** Calls a function binding through the gate of a cell. */
export async function callBoundFunction(
  { name, target }: BoundFunction,
  given: readonly unknown[],
  caller: Caller,
  named: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const accept = (args: readonly unknown[]) => validateInput(target, name, args)
  const args = await accept(placeKeywordArguments(given, named, { name, call: target.call, target }))
  const make = (made: readonly unknown[]) => Reflect.apply(target.call, undefined, made)
  const call = { binding: name, method: undefined, args, options: target.options, make }
  return callForCaller(target.options.input === undefined ? call : { ...call, accept }, caller)
}

/** Calls a method that a cell passed on, through the gate of a cell. */
export async function callGatedMethod(
  method: GatedMethod,
  given: readonly unknown[],
  caller: Caller,
  { functions, guards, used }: Pick<HostAccess, "functions" | "guards" | "used">,
  named: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  used.markUsed(method.owner)
  const { owner, name, binding, pathFromBinding: reached, member } = resolveStoredMethod(method, functions)
  const title = `${binding}.${reached}`
  if (typeof member !== "function") throw new TypeError(`${title} is not a function`)
  const bound = functions.boundBy(member)
  if (bound) return callBoundFunction(bound, given, caller, named)
  refuseBuiltInCallback(member, given, title)
  const args = placeKeywordArguments(given, named, { name: title, call: member, owner })
  const guarded = guards.find(owner, name, member)
  const make = (made: readonly unknown[]) => Reflect.apply(member, owner, made)
  return callForCaller(
    { binding, method: reached, options: agentCallOptions(owner) ?? {}, ...guarded, args, make },
    caller,
  )
}

/** A method, and what it is now. A field may hold a method of another object that a cell stored there. */
function resolveStoredMethod(method: GatedMethod, functions: GatedFunctions): GatedMethod & { member: unknown } {
  let found = method
  for (let step = 0; step < maxStoredSteps; step++) {
    const member = readMember(found.owner, found.name)
    const stored = typeof member === "function" ? functions.methodOf(member) : undefined
    if (!stored) return { ...found, member }
    found = stored
  }
  throw new TypeError(`${method.binding}.${method.pathFromBinding} leads to no function, but back to itself.`)
}

const maxStoredSteps = 32

type GatedCall = Omit<Parameters<typeof callThroughGate>[0], "signal">

function callForCaller(call: GatedCall, caller: Caller): Promise<unknown> {
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

function writeRules({ functions, guards, extensible }: HostAccess) {
  return {
    isFromCell: (value: unknown) =>
      isPeerObject(value) ||
      (typeof value === "function" &&
        (functions.boundBy(value)?.gated === value || functions.methodOf(value) !== undefined)),
    isGuarded: (target: object, key: string) => guards.find(target, key, undefined) !== undefined,
    isExtensible: (target: object) => extensible.has(target),
  }
}

function memberNames(value: unknown): string[] {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return []
  const { methods, values } = objectShapeOf(value)
  return [...methods, ...values]
}

function isInstance(value: unknown, type: AnyFunction | object): boolean {
  return typeof type === "function" && value instanceof (type as AnyFunction)
}
