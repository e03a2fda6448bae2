// Performs the operations that a peer asks for on host objects. Every call passes the call gate of the calling cell.
import { types } from "node:util"
import { isObject } from "../../core/object.ts"
import type { MethodGuards } from "../bindings/method-guards.ts"
import type { UsedObjects } from "../bindings/used-objects.ts"
import type { AnyFunction } from "../bindings.ts"
import { type Caller, currentCaller } from "./caller.ts"
import type { GatedFunctions, GatedMethod } from "./gated-functions.ts"
import { type HostObject, pathFromBinding } from "./host-objects.ts"
import { objectShapeOf } from "./object-shapes.ts"
import { callForCaller, callHostMember, ownerOf } from "./operations/call-operations.ts"
import { collectElements, iteratorMethod, methodBySymbol, startIterator } from "./operations/iteration.ts"
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
import { appendMember, ForgedMessage } from "./wire.ts"

export interface Operation {
  op: "call" | "new" | "get" | "set" | "iterate" | "list" | "members" | "declare" | "instance" | "dispose"
  object: HostObject
  /** The members from the object to the operation's target. */
  path: readonly string[]
  /** For `get`, `call` and `new`: the numbers of steps after which null or undefined ends the path with undefined. */
  optional: readonly number[]
  args: readonly unknown[]
  /** Arguments passed by keyword. */
  keywordArgs: Readonly<Record<string, unknown>>
  /** For `set`: true if the value is a changed copy of the field's value. */
  isCopy: boolean
  /** The digest of the copy when it was read (empty if the peer does not know it), and a function that returns the
   *  digest of the field's current value. */
  copyState?: { digest: string; now(value: unknown): string | undefined } | undefined
}

/** The result of an operation: a value, or a method, which the peer calls through its owner. */
export type OperationResult = { value: unknown; method?: undefined } | { method: GatedMethod }

export interface HostAccess {
  readonly functions: GatedFunctions
  /** The guarded methods of objects. */
  readonly guards: MethodGuards
  /** Objects to which cells may add members. */
  readonly extensible: WeakSet<object>
  /** The host objects that cells have used. */
  readonly usedObjects: UsedObjects
  /** Returns the error for reading a missing member. Default: a missing member is undefined. */
  readonly missingError?: ((title: string) => Error) | undefined
  /** Converts an assigned value to the type of the old one, if the peer's language does not distinguish the types. */
  readonly convertToOldType?: ((value: unknown, old: () => unknown) => unknown) | undefined
  /** Returns the declaration of a binding, for languages whose cells can ask for it (`name?`). */
  readonly declare?: ((binding: string) => Promise<string | undefined>) | undefined
  /** Wraps the call of a method, for languages that need to know the owner. Default: calls the method. */
  readonly wrapCall?: (<T>(owner: unknown, call: () => T) => T) | undefined
}

export function performOperation(
  operation: Operation,
  access: HostAccess,
  caller: Caller,
): OperationResult | Promise<OperationResult> {
  access.usedObjects.markUsed(operation.object.original)
  // Reading a primitive field runs no code, so it needs neither the caller's context nor a promise.
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
    case "get":
      return getMember(operation, title, access)
    case "set":
      return setMember(operation, title, access)
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
    case "declare":
      return { value: object.title === binding ? await access.declare?.(binding) : undefined }
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

async function getMember(operation: Operation, title: string, access: HostAccess): Promise<OperationResult> {
  const { object, path, optional } = operation
  const owner = ownerOf(object.value, path, access, optional)
  if (owner === pathEnded) return { value: undefined }
  const key = path.at(-1)
  const member = key === undefined ? object.value : await readMember(owner, key)
  if (member === undefined && access.missingError && !hasMember(owner, key)) throw access.missingError(title)
  const stored = typeof member === "function" ? access.functions.methodOf(member) : undefined
  if (stored) return { method: stored }
  const isPlainMethod = isMethod(member) && !access.functions.findBinding(Object(member)) && !isPeerObject(member)
  if (!isObject(owner) || key === undefined || !isPlainMethod) return { value: member }
  return {
    method: { owner, name: key, bindingName: object.binding, pathFromBinding: pathFromBinding(object, path) },
  }
}

function setMember(operation: Operation, title: string, access: HostAccess): OperationResult {
  const { object, path, args, isCopy, copyState } = operation
  const key = path.at(-1)
  if (key === undefined) throw new ForgedMessage("an assignment to no member")
  const owner = ownerOf(object.value, path, access)
  const assigned = access.convertToOldType ? access.convertToOldType(args[0], () => readMember(owner, key)) : args[0]
  const isStale =
    copyState !== undefined && copyState.digest !== "" && copyState.now(readMember(owner, key)) !== copyState.digest
  writeMember(owner, key, assigned, { where: title, isCopy, rules: writeRules(access) })
  // The peer learns whether the assignment overwrote changes that the cell had not read, and the field's new digest.
  return { value: copyState && [isStale, copyState.now(readMember(owner, key)) ?? ""] }
}

function writeRules({ functions, guards, extensible }: HostAccess) {
  return {
    isFromCell: (value: unknown) =>
      isPeerObject(value) ||
      (typeof value === "function" &&
        (functions.findBinding(value)?.gated === value || functions.methodOf(value) !== undefined)),
    isGuarded: (target: object, key: string) => guards.find(target, key, undefined) !== undefined,
    isExtensible: (target: object) => extensible.has(target),
  }
}

function memberNames(value: unknown): string[] {
  if (!isObject(value)) return []
  const { methods, values } = objectShapeOf(value)
  return [...methods, ...values]
}

function isInstance(value: unknown, type: AnyFunction | object): boolean {
  return typeof type === "function" && value instanceof (type as AnyFunction)
}
