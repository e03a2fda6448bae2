// Handles for objects and functions that live in a peer, as host code uses them.
import { inspect } from "node:util"
import { AgentError } from "../../core/errors.ts"
import { type Binding, toBinding, variable } from "../bindings.ts"
import { type Caller, currentCaller } from "./caller.ts"
import { reportIfUnawaited } from "./pending-result.ts"
import { CannotCross, expectId, expectText, type WireObject } from "./wire.ts"

/** The operations that the host can ask of a peer. */
export interface Peer {
  /** Where the object lives, for error messages: "in Python". */
  readonly location: string
  readonly alive: boolean
  get(object: PeerObject, path: readonly string[]): Promise<unknown>
  set(object: PeerObject, path: readonly string[], value: unknown): Promise<unknown>
  call(object: PeerObject, path: readonly string[], args: readonly unknown[]): Promise<unknown>
  release(id: number, count: number): void
  /** A call of the object failed, host code did not await it, and no cell was running. */
  onUnawaitedFailure(error: unknown): void
}

export interface PeerObject {
  readonly peer: Peer
  readonly id: number
  readonly type: string
  readonly isCallable: boolean
  /** The last cell that passed the object to host code. */
  caller?: Caller | undefined
  /** The error of a failed assignment. The next use of the handle throws it, because an assignment cannot be
   *  awaited. */
  failure?: unknown
  /** True if the peer was reset after it sent the object. */
  isReleased?: boolean
}

/** A handle reads and calls in the peer: `await model.predict(x)`, `await model.name`, `model.name = "x"`. An
 *  assignment is made before the next use. `then` is undefined, so a handle can be awaited and returned. An object of
 *  the peer has one handle as long as host code holds it. */
export function createPeerObjects(peer: Peer) {
  const held = new Map<number, { handle: WeakRef<object>; count: number }>()
  const collected = new FinalizationRegistry<number>((id) => {
    const entry = held.get(id)
    // The same object may have been received again in the meantime.
    if (!entry || entry.handle.deref()) return
    held.delete(id)
    if (peer.alive) peer.release(id, entry.count)
  })
  return {
    /** Returns the handle for a tagged value. `caller`: the cell that passes the object to host code. */
    receive(tagged: WireObject, caller?: Caller): object {
      const id = expectId(tagged.id)
      const entry = held.get(id)
      const known = entry?.handle.deref()
      if (entry && known) {
        entry.count++
        const object = peerObjects.get(known)
        if (object && caller) object.caller = caller
        return known
      }
      if (held.size >= maxHeldObjects) {
        throw new CannotCross(
          `The host holds ${maxHeldObjects} objects of the runtime's cells already. Send data instead.`,
        )
      }
      const type = shortName(expectText(tagged.type))
      const handle = createPeerHandle({ peer, id, type, isCallable: tagged.callable === true, caller }, [])
      held.set(id, { handle: new WeakRef(handle), count: (entry?.count ?? 0) + 1 })
      collected.register(handle, id)
      return handle
    },
    /** Called when the peer is reset. Makes every object received before unusable. */
    releaseAll(): void {
      for (const [id, { handle, count }] of held) {
        const object = peerObjectOf(handle.deref())
        if (object) object.isReleased = true
        if (peer.alive) peer.release(id, count)
      }
      held.clear()
    },
  }
}

// A handle takes about a kilobyte here, but only a few bytes in a message.
const maxHeldObjects = 50_000

/** Shortens a name that the peer chose, for error messages. */
function shortName(name: string): string {
  return name.slice(0, 80).replace(/[^\p{L}\p{N}_$.]+/gu, " ")
}

/** Returns the peer object behind a handle, or undefined if the value is not a handle. */
export function peerObjectOf(value: unknown): PeerObject | undefined {
  return typeof value === "function" ? peerObjects.get(value) : undefined
}

export function isPeerObject(value: unknown): boolean {
  return peerObjectOf(value) !== undefined
}

/** Makes a binding of a value. A handle is bound as a variable, although it is callable. */
export function bindingOf(given: unknown): Binding {
  return isPeerObject(given) ? variable(given) : toBinding(given)
}

/** Returns the tagged value by which a peer finds its own object. */
export function peerReference(value: object, peer: Peer): WireObject {
  const found = peerObjectOf(value)
  if (found && isGone(found)) throw goneError(found)
  if (found?.peer === peer) return { $: "p", id: found.id }
  throw new CannotCross(
    "An object that lives in another runtime's process cannot cross to this one. Retrieve its data.",
  )
}

const peerObjects = new WeakMap<object, PeerObject>()
const functionMethods = new Set(["call", "apply", "bind"])

/** Creates a handle, or a path from one. `model.coefficients.shape` is read when it is awaited or called. */
function createPeerHandle(object: PeerObject, path: readonly string[], root?: object): object {
  const { peer, type } = object
  const title = [type, ...path].join(".")
  // A bound function is constructible and has no `prototype`, which a Proxy would have to expose.
  const target = function peerObject() {}.bind(undefined)
  // `inspect` reads the target of a Proxy.
  const describe = () => `[${title} ${peer.location}]`
  Object.defineProperty(target, inspect.custom, { value: describe, configurable: true })
  const proxy: object = new Proxy(target, {
    apply: (_target, _this, args: unknown[]) => callPeer(object, title, () => peer.call(object, path, args)),
    // In the peer, calling a class creates an instance.
    construct: (_target, args: unknown[]) => callPeer(object, title, () => peer.call(object, path, args)),
    get(_target, key) {
      if (key === Symbol.toStringTag) return "PeerObject"
      if (key === Symbol.toPrimitive)
        return path.length > 0 ? () => throwMissingAwait(title, peer) : () => throwNoPrimitive(title, peer)
      // JavaScript calls these synchronously, so the peer cannot be asked.
      if (key === "toString" || key === "toJSON") return describe
      if (typeof key === "symbol") return undefined
      // Host code such as event emitters calls callbacks through these methods.
      if (object.isCallable && path.length === 0 && functionMethods.has(key))
        return Reflect.get(Function.prototype, key)
      if (key === "then")
        return path.length === 0 ? undefined : thenOf(() => askPeer(object, () => peer.get(object, path)))
      // A path holds its handle, so that the peer's object is not released.
      return createPeerHandle(object, [...path, key], root ?? proxy)
    },
    set(_target, key, value) {
      if (typeof key === "symbol") return false
      askPeer(object, () => peer.set(object, [...path, key], value)).catch((error: unknown) => {
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
  if (path.length === 0) peerObjects.set(proxy, object)
  return proxy
}

/** Calls into the peer. If host code does not await a failure, the calling cell fails. If no cell is running, the
 *  failure is printed as a warning. */
function callPeer(object: PeerObject, title: string, call: () => Promise<unknown>): Promise<unknown> {
  const caller = currentCaller.getStore()
  return reportIfUnawaited(askPeer(object, call), title, caller, {
    onSuccess: () => hintUnawaited(title, caller),
    onFailure: (error) => object.peer.onUnawaitedFailure(error),
  })
}

function hintUnawaited(title: string, caller: Caller | undefined): void {
  const name = title === "function" ? "a callback" : title
  caller?.hint(`Host code called ${name} and did not await its result, so that it saw a promise and not the value.`)
}

function throwMissingAwait(title: string, peer: Peer): never {
  throw new TypeError(`${title} is ${peer.location}: write \`await\` before it to read it.`)
}

function throwNoPrimitive(title: string, peer: Peer): never {
  throw new TypeError(
    `${title} lives ${peer.location} and has no primitive value: await one of its members or methods.`,
  )
}

function askPeer(object: PeerObject, ask: () => Promise<unknown>): Promise<unknown> {
  if (isGone(object)) return Promise.reject(goneError(object))
  const { failure } = object
  if (failure === undefined) return ask()
  object.failure = undefined
  return Promise.reject(failure)
}

function isGone({ peer, isReleased: isForgotten }: PeerObject): boolean {
  return !peer.alive || isForgotten === true
}

function goneError({ type, peer }: PeerObject): AgentError {
  const what = type === "function" ? "A function of a cell" : `The object ${type}`
  const why = peer.alive ? "the runtime was reset" : "its process has ended"
  const message = `${what} is gone: it lived ${peer.location}, and ${why}. Get it again from a new cell.`
  return new AgentError(message, { code: "gone" })
}

type Then = Promise<unknown>["then"]

function thenOf(ask: () => Promise<unknown>): Then {
  return (onValue, onError) => ask().then(onValue, onError)
}
