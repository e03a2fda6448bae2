import { inspect } from "node:util"
import { isKeywordArguments } from "./py.ts"

/** What a handle can ask of the kernel its object lives in. */
export interface Remote {
  /** Whether the kernel still lives. */
  readonly alive: boolean
  get(id: number, path: readonly string[]): Promise<unknown>
  set(id: number, path: readonly string[], value: unknown): Promise<unknown>
  call(id: number, path: readonly string[], args: readonly unknown[], kwargs: Record<string, unknown>): Promise<unknown>
  /** Writes a table to a file of the kernel's own folder, and gives its path. */
  save(id: number): Promise<string>
  release(id: number, count: number): void
}

export interface PythonObject {
  remote: Remote
  id: number
  type: string
  /** Why a setter failed, for the next use of the handle: who sets cannot wait. */
  failure?: Error | undefined
}

/** Handles of one kernel: the same object of Python is the same handle as long as somebody holds it. */
export interface Handles {
  receive(id: number, type: string): object
}

/** An object of Python, used from TypeScript: `await model.predict(x)`, `await model.name`, `model.name = "x"`. A setter is
 *  ordered before the next use. `then` is undefined, so a handle can be awaited and returned. */
export function createHandles(remote: Remote): Handles {
  const held = new Map<number, { handle: WeakRef<object>; count: number }>()
  const dropped = new FinalizationRegistry<number>((id) => {
    const entry = held.get(id)
    // The same object may have been received again since.
    if (!entry || entry.handle.deref()) return
    held.delete(id)
    if (remote.alive) remote.release(id, entry.count)
  })
  return {
    receive(id, type) {
      const entry = held.get(id)
      const known = entry?.handle.deref()
      if (entry && known) {
        entry.count++
        return known
      }
      const handle = member({ remote, id, type }, [])
      held.set(id, { handle: new WeakRef(handle), count: (entry?.count ?? 0) + 1 })
      dropped.register(handle, id)
      return handle
    },
  }
}

/** The Python object that a handle stands for; undefined for anything else. */
export function pythonObjectOf(value: object): PythonObject | undefined {
  return objects.get(value)
}

const objects = new WeakMap<object, PythonObject>()

/** A handle itself, or a way from it: `model.coefficients.shape` is asked for when it is awaited or called. */
function member(object: PythonObject, path: readonly string[], root?: object): object {
  const { remote, id } = object
  const target = () => undefined
  // `inspect` looks behind a proxy.
  const shown = () => `[Python ${[object.type, ...path].join(".")}]`
  Object.defineProperty(target, inspect.custom, { value: shown, configurable: true })
  const proxy: object = new Proxy(target, {
    apply(_target, _this, given: unknown[]) {
      const last = given.at(-1)
      const [args, named] = isKeywordArguments(last) ? [given.slice(0, -1), last.values] : [given, {}]
      return use(object, () => remote.call(id, path, args, named))
    },
    get(_target, key) {
      if (key === Symbol.toStringTag) return "PythonObject"
      if (key === Symbol.toPrimitive && path.length > 0) return () => forgottenAwait([object.type, ...path].join("."))
      // The language itself asks for these and cannot wait for Python's answer.
      if (key === Symbol.toPrimitive || key === "toString" || key === "toJSON") return shown
      if (typeof key === "symbol") return undefined
      if (key === "then") return path.length === 0 ? undefined : thenOf(() => use(object, () => remote.get(id, path)))
      // A way from a handle holds it, and so the object in Python.
      return member(object, [...path, key], root ?? proxy)
    },
    set(_target, key, value) {
      if (typeof key === "symbol") return false
      remote.set(id, [...path, key], value).catch((error: Error) => {
        object.failure = error
      })
      return true
    },
    has: (_target, key) => typeof key === "string" && key !== "then",
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    getPrototypeOf: () => null,
    setPrototypeOf: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  })
  if (path.length === 0) objects.set(proxy, object)
  return proxy
}

function forgottenAwait(what: string): never {
  throw new TypeError(`${what} is in Python: write \`await\` before it to read it.`)
}

function use(object: PythonObject, ask: () => Promise<unknown>): Promise<unknown> {
  const { failure } = object
  if (!failure) return ask()
  object.failure = undefined
  return Promise.reject(failure)
}

type Then = Promise<unknown>["then"]

function thenOf(ask: () => Promise<unknown>): Then {
  return (onValue, onError) => ask().then(onValue, onError)
}
