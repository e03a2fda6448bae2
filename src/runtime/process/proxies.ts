import { inspect } from "node:util"
import type { Shape } from "./crossing.ts"
import type { Operation } from "./protocol.ts"

/** What the host is asked to do with something of its own. */
export type Ask = (
  on: number,
  path: readonly string[],
  op: Operation["op"],
  args: readonly unknown[],
  /** Made where the cell asked, if that is not where this is called. */
  askedAt?: Error,
) => Promise<unknown>

/** Handles of one child: the host's objects as cells see them. */
export interface Proxies {
  /** The handle of a number, the same as long as somebody holds it. */
  get(id: number, shape: Shape): object
  idOf(value: object): number | undefined
  /** What to call a handle in messages. */
  titleOf(id: number): string
  /** Whether a value is a member of a handle that was not awaited. */
  isMember(value: object): boolean
}

export function createProxies(ask: Ask, release: (id: number, count: number) => void): Proxies {
  const records = new Map<number, Handle>()
  const handles = new WeakMap<object, Handle>()
  const members = new WeakSet<object>()
  const dropped = new FinalizationRegistry<Handle>((handle) => {
    if (records.get(handle.id) === handle) records.delete(handle.id)
    release(handle.id, handle.received)
  })
  return {
    get(id, shape) {
      const known = records.get(id)
      const alive = known?.proxy.deref()
      if (known && alive) {
        known.received++
        known.shape = shape
        return alive
      }
      const made = createHandle(id, shape, ask, members)
      records.set(id, made.handle)
      handles.set(made.proxy, made.handle)
      dropped.register(made.proxy, made.handle)
      return made.proxy
    },
    idOf: (value) => handles.get(value)?.id,
    titleOf: (id) => records.get(id)?.shape.name ?? "handle",
    isMember: (value) => members.has(value),
  }
}

interface Handle {
  readonly id: number
  shape: Shape
  /** How often the host has sent it. */
  received: number
  proxy: WeakRef<object>
}

function createHandle(id: number, shape: Shape, ask: Ask, members: WeakSet<object>): { handle: Handle; proxy: object } {
  const methods = new Map<string, object>()
  const target = targetFor(shape.kind !== "object", () => `[${handle.shape.name} on the host]`)
  const own = new Map<PropertyKey, unknown>([
    ["then", undefined],
    ["constructor", undefined],
    ["__proto__", null],
    [Symbol.toStringTag, shape.name],
  ])

  const method = (key: string) => {
    const known = methods.get(key)
    if (known) return known
    const made = (...args: unknown[]) => ask(id, [key], "call", args)
    Object.defineProperty(made, "name", { value: key })
    methods.set(key, made)
    return made
  }

  const proxy: object = new Proxy(target, {
    get(_, key) {
      if (own.has(key)) return own.get(key)
      const { kind, iterable, disposable, methods: names } = handle.shape
      if (key === Symbol.asyncIterator) return iterable ? () => iterate(id, ask) : undefined
      if (key === Symbol.asyncDispose) return disposable ? () => ask(id, [], "dispose", []) : undefined
      if (typeof key === "symbol") return Reflect.get(target, key)
      if (names.includes(key)) return method(key)
      if (key === "toJSON") return () => inspect(target)
      if (kind !== "object" && (key === "name" || key === "length")) return Reflect.get(target, key)
      if (key in Object.prototype || (kind !== "object" && key in Function.prototype)) return Reflect.get(target, key)
      return member(id, [key], handle.shape.name, ask, members)
    },
    set(_, key, value) {
      return write(id, [], key, value, ask)
    },
    has: (_, key) => typeof key === "string" && [...handle.shape.methods, ...handle.shape.values].includes(key),
    ownKeys: () => [...new Set(handle.shape.values)],
    getOwnPropertyDescriptor(_, key) {
      if (typeof key !== "string" || !handle.shape.values.includes(key)) return undefined
      const value = member(id, [key], handle.shape.name, ask, members)
      return { value, enumerable: true, writable: true, configurable: true }
    },
    apply: (_target, _this, args: unknown[]) => ask(id, [], "call", args),
    construct: (_, args: unknown[]) => ask(id, [], "new", args),
    deleteProperty: () => false,
    defineProperty: () => false,
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  })
  const handle: Handle = { id, shape, received: 1, proxy: new WeakRef(proxy) }
  return { handle, proxy }
}

/** A member that is no method: awaiting it reads it, calling it calls it, and its own members are one dot away, so that
 *  `await agent.runtime.retrieve("x")` needs one await. */
function member(id: number, path: readonly string[], name: string, ask: Ask, members: WeakSet<object>): object {
  const title = `${name}.${path.join(".")}`
  // Awaiting it asks later, when nothing of the cell is on the stack.
  const askedAt = new Error()
  let reading: Promise<unknown> | undefined
  const read = () => {
    reading ??= ask(id, path, "get", [], askedAt)
    return reading
  }
  const promise: { [key: string]: unknown } = {
    then: (done?: Fulfilled, failed?: Fulfilled) => read().then(done, failed),
    catch: (failed?: Fulfilled) => read().catch(failed),
    finally: (done?: () => void) => read().finally(done),
  }
  const target = targetFor(true, () => `[${title}: await it]`)
  const proxy: object = new Proxy(target, {
    get(_, key) {
      if (key === Symbol.toPrimitive) {
        return () => {
          throw new TypeError(`${title} is on the host: write \`await\` before it to read it.`)
        }
      }
      if (typeof key === "symbol") return key === Symbol.toStringTag ? "Promise" : Reflect.get(target, key)
      if (Object.hasOwn(promise, key)) return promise[key]
      if (key === "constructor") return undefined
      if (key in Object.prototype || key in Function.prototype) return Reflect.get(target, key)
      return member(id, [...path, key], name, ask, members)
    },
    set: (_, key, value) => write(id, path, key, value, ask),
    apply: (_target, _this, args: unknown[]) => ask(id, path, "call", args),
    construct: (_, args: unknown[]) => ask(id, path, "new", args),
    defineProperty: () => false,
    deleteProperty: () => false,
    setPrototypeOf: () => false,
  })
  members.add(proxy)
  return proxy
}

type Fulfilled = (value: unknown) => unknown

/** What a proxy is made over: what `console.log` shows of it, and nothing else. */
function targetFor(callable: boolean, show: () => string): object {
  // A bound function can be constructed, so that `new` asks the host, and has no `prototype` that would have to be shown.
  const target = callable ? function handle() {}.bind(undefined) : {}
  return Object.defineProperty(target, inspect.custom, { value: show, configurable: true })
}

function write(id: number, path: readonly string[], key: PropertyKey, value: unknown, ask: Ask): boolean {
  if (typeof key !== "string") return false
  void ask(id, [...path, key], "set", [value])
  return true
}

async function* iterate(id: number, ask: Ask): AsyncGenerator<unknown> {
  // The host's iterator, which has `next` and perhaps `return`.
  const iterator = (await ask(id, [], "iterate", [])) as Required<AsyncIterator<unknown>>
  let done = false
  try {
    for (;;) {
      const step = await iterator.next()
      if (step.done) {
        done = true
        return step.value
      }
      yield step.value
    }
  } finally {
    if (!done) await iterator.return()
  }
}
