// Handles for the host's objects, as the cells of a child use them.
import { inspect } from "node:util"
import type { ObjectShape } from "../../handles/object-shapes.ts"
import { appendMember, type WireObject } from "../../handles/wire.ts"
import { iterateHostObject } from "./iterate-host-object.ts"
import { refuseUnawaited, rememberHandleTitle, trackMember, type UnawaitedMember } from "./unawaited-members.ts"

/** Asks the host to perform an operation on one of its objects. */
export type OperateOnHost = (
  op: "call" | "new" | "get" | "set" | "iterate" | "dispose",
  target: OperationTarget,
  args: readonly unknown[],
  /** An error created where the cell made the request, if that is not the place of this call. Its stack is reported. */
  askedAt?: Error,
) => Promise<unknown>

export interface OperationTarget {
  id: number
  path: readonly string[]
  title: string
  /** The numbers of steps after which null or undefined ends the path with undefined. */
  optional?: readonly number[]
}

export function createHostHandles(operate: OperateOnHost, release: (id: number, count: number) => void) {
  const shapes = new Map<number, ObjectShape>()
  const held = new Map<number, HeldHandle>()
  const handles = new WeakMap<object, HeldHandle>()
  const methods = new WeakMap<object, { held: HeldHandle; name: string }>()
  const collected = new FinalizationRegistry<HeldHandle>((gone) => {
    if (held.get(gone.id) === gone) held.delete(gone.id)
    release(gone.id, gone.received)
  })

  const methodOf = (of: HeldHandle, name: string): object => {
    const known = of.methods.get(name)
    if (known) return known
    const target = { id: of.id, path: [name], title: appendMember(of.title, name) }
    const made = (...args: unknown[]) => operate("call", target, args)
    Object.defineProperty(made, "name", { value: name })
    // A method that was read from a handle keeps its owner.
    methods.set(made, { held: of, name })
    of.methods.set(name, made)
    return made
  }

  const isInstance = (value: unknown, { number }: ObjectShape): boolean => {
    refuseUnawaited(value)
    const found = typeof value === "object" || typeof value === "function" ? handles.get(Object(value)) : undefined
    return found !== undefined && number !== undefined && found.shape.classes.includes(number)
  }

  const parts: HandleContext = { operate, methodOf, isInstance }

  return {
    /** Stores the shapes that a message contains. */
    addShapes(given: readonly WireObject[]): void {
      for (const { n, ...shape } of given) shapes.set(Number(n), shape as unknown as ObjectShape)
    },
    /** Returns the handle of a tagged value. It is the same as long as a cell holds it. `isCounted`: the host sent it
     *  anew. */
    get({ id, s, b }: WireObject, isCounted = true): object {
      const shape = shapes.get(Number(s))
      const known = held.get(Number(id))
      const alive = known?.proxy.deref()
      if (known && alive) {
        if (isCounted) known.received++
        if (shape) known.shape = shape
        return alive
      }
      if (!shape) throw new Error("The host sent a handle without its shape.")
      const made: HeldHandle = {
        id: Number(id),
        title: String(b ?? shape.name),
        shape,
        received: 1,
        methods: new Map(),
        proxy: new WeakRef({}),
      }
      const proxy = createHandle(made, parts)
      made.proxy = new WeakRef(proxy)
      held.set(made.id, made)
      handles.set(proxy, made)
      rememberHandleTitle(proxy, made.title)
      collected.register(proxy, made)
      return proxy
    },
    /** Returns a method of a handle as a separate function. */
    method(handle: object, name: string): object {
      const of = handles.get(handle)
      if (!of) throw new Error("The host sent a method of no handle.")
      return methodOf(of, name)
    },
    /** Returns the tagged value for a handle or for a method read from one, or undefined for any other value. */
    referenceOf(value: object): WireObject | undefined {
      const found = handles.get(value)
      if (found) return { $: "h", id: found.id }
      const method = methods.get(value)
      return method && { $: "hm", of: { $: "h", id: method.held.id }, name: method.name }
    },
    idOf: (value: object): number | undefined => handles.get(value)?.id,
  }
}

interface HeldHandle {
  readonly id: number
  /** The expression by which the object was reached. */
  readonly title: string
  shape: ObjectShape
  /** How often the host has sent the object. */
  received: number
  readonly methods: Map<string, object>
  proxy: WeakRef<object>
}

interface HandleContext {
  operate: OperateOnHost
  methodOf(of: HeldHandle, name: string): object
  isInstance(value: unknown, type: ObjectShape): boolean
}

function createHandle(held: HeldHandle, parts: HandleContext): object {
  const { operate, methodOf, isInstance } = parts
  const isCallable = held.shape.is !== "object"
  const target = proxyTarget(isCallable, () => `[${held.shape.name} on the host]`)
  const itself = { id: held.id, path: [], title: held.title }
  const refuseUse = (use: string) => () => {
    throw new TypeError(
      `${held.title} is an object on the host and cannot be ${use}: await one of its fields or methods.`,
    )
  }
  const member = (key: string): object =>
    trackMember((askedAt) => createMember({ ...itself, path: [key] }, askedAt, operate))

  const ofSymbol = (key: symbol): unknown => {
    const { iterable, disposable, name } = held.shape
    switch (key) {
      case Symbol.asyncIterator:
        return iterable ? () => iterateHostObject(itself, operate) : undefined
      case Symbol.asyncDispose:
        return disposable ? () => operate("dispose", itself, []) : undefined
      case Symbol.iterator:
        return iterable ? refuseUse("iterated at once: write `for await (const x of …)`, or") : undefined
      case Symbol.toPrimitive:
        return refuseUse("used as a value")
      case Symbol.toStringTag:
        return name
      case Symbol.hasInstance:
        return (value: unknown) => isInstance(value, held.shape)
      default:
        return Reflect.get(target, key)
    }
  }

  return new Proxy(target, {
    get(_, key) {
      if (typeof key === "symbol") return ofSymbol(key)
      if (key === "then") return undefined
      const { methods, is, values } = held.shape
      if (methods.includes(key)) return methodOf(held, key)
      if (values.includes(key)) return member(key)
      if (key === "constructor" || key === "__proto__") return undefined
      if (key === "toJSON") return refuseUse("written as JSON")
      if (key === "name" && is !== "object") return held.shape.name
      // These names are reserved for functions only: an object may have a field of any name.
      if (is !== "object" && key in Function.prototype) return Reflect.get(target, key)
      return member(key)
    },
    set(_, key, value) {
      if (typeof key === "symbol") return false
      void operate("set", { id: held.id, path: [key], title: appendMember(held.title, key) }, [value])
      return true
    },
    has(_, key) {
      if (typeof key === "symbol") return false
      if (held.shape.methods.includes(key) || held.shape.values.includes(key)) return true
      return held.shape.open === true ? refuseUse("searched with `in`: its members are not known here;")() : false
    },
    ownKeys: () => [...new Set(held.shape.values)],
    getOwnPropertyDescriptor(_, key) {
      if (typeof key === "symbol" || !held.shape.values.includes(key)) return undefined
      // The descriptor only lists the key. The value is read through `get`.
      return { value: undefined, enumerable: true, writable: true, configurable: true }
    },
    apply: (_target, _this, args: unknown[]) => operate("call", itself, args),
    construct: (_, args: unknown[]) => operate("new", itself, args),
    deleteProperty: (_, key) => refuseDelete(held.title, key),
    defineProperty: () => false,
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  })
}

/** Creates a member that is not a method. Awaiting it reads it, and calling it calls it. Its own members can be used
 *  without an await in between, so that `await agent.runtime.retrieve("x")` needs one `await`. */
function createMember(given: OperationTarget, askedAt: Error, operate: OperateOnHost): UnawaitedMember {
  const { id, path, optional = [] } = given
  const title = path.reduce(appendMember, given.title)
  const itself = { id, path, title, optional }
  let used = false
  let reading: Promise<unknown> | undefined
  const read = () => {
    used = true
    reading ??= operate("get", itself, [], askedAt)
    return reading
  }
  const throwMissingAwait = (): never => {
    throw new TypeError(`${title} is on the host: write \`await\` before it to read it.`)
  }
  const reactions: { [key: string]: unknown } = {
    then: (done?: Reaction, failed?: Reaction) => read().then(done, failed),
    catch: (failed?: Reaction) => read().catch(failed),
    finally: (done?: () => void) => read().finally(done),
  }
  const target = proxyTarget(true, () => `[${title}: await it]`)
  const proxy: object = new Proxy(target, {
    get(_, key) {
      if (typeof key === "symbol") {
        if (key === Symbol.toPrimitive || key === Symbol.iterator || key === Symbol.hasInstance)
          return throwMissingAwait
        if (key === Symbol.asyncIterator) {
          used = true
          return () => iterateHostObject(itself, operate)
        }
        return key === Symbol.toStringTag ? "Promise" : Reflect.get(target, key)
      }
      if (Object.hasOwn(reactions, key)) return reactions[key]
      if (key === "toJSON") return throwMissingAwait
      used = true
      return trackMember((at) => createMember({ ...given, path: [...path, key] }, at, operate))
    },
    set(_, key, value) {
      if (typeof key === "symbol") return false
      used = true
      void operate("set", { id, path: [...path, key], title: appendMember(title, key) }, [value])
      return true
    },
    apply(_target, _this, args: unknown[]) {
      used = true
      return operate("call", itself, args)
    },
    construct(_, args: unknown[]) {
      used = true
      return operate("new", itself, args)
    },
    has: throwMissingAwait,
    ownKeys: throwMissingAwait,
    getOwnPropertyDescriptor: throwMissingAwait,
    defineProperty: () => false,
    deleteProperty: (_, key) => refuseDelete(title, key),
    setPrototypeOf: () => false,
  })
  return {
    proxy,
    title,
    isUsed: () => used,
    optional() {
      used = true
      return trackMember((at) => createMember({ ...given, optional: [...optional, path.length] }, at, operate))
    },
  }
}

function refuseDelete(title: string, key: string | symbol): never {
  throw new TypeError(
    `${appendMember(title, String(key))} is on the host and cannot be deleted from a cell. ` +
      `Set it to undefined, or read ${title}, delete the key from the copy and assign the copy.`,
  )
}

type Reaction = (value: unknown) => unknown

/** Creates the target of a Proxy. `console.log` prints its text. */
function proxyTarget(isCallable: boolean, show: () => string): object {
  // A bound function is constructible, so that `new` asks the host, and it has no `prototype`, which a Proxy would have
  // to expose.
  const target = isCallable ? function handle() {}.bind(undefined) : {}
  return Object.defineProperty(target, inspect.custom, { value: show, configurable: true })
}
