import { inspect } from "node:util"
import { AgentError } from "../../core/errors.ts"
import { type Binding, toBinding, variable } from "../bindings.ts"
import { type Caller, currentCaller } from "./caller.ts"
import { reportIfUnawaited } from "./unawaited-calls.ts"
import { CannotCross, expectId, expectText, type WireObject } from "./wire.ts"

// Objects and functions that cells made, as host code uses them.

/** What the host can ask of a peer about an object that lives there. */
export interface Peer {
  /** Where the object lives, for messages: "in Python". */
  readonly location: string
  readonly alive: boolean
  get(object: PeerObject, path: readonly string[]): Promise<unknown>
  set(object: PeerObject, path: readonly string[], value: unknown): Promise<unknown>
  call(object: PeerObject, path: readonly string[], args: readonly unknown[]): Promise<unknown>
  release(id: number, count: number): void
  /** A call of this object failed and no host code awaited it, while no cell was running. */
  onUnawaitedFailure(error: unknown): void
}

export interface PeerObject {
  readonly peer: Peer
  readonly id: number
  readonly type: string
  readonly isCallable: boolean
  /** The cell that passed the object last. */
  caller?: Caller | undefined
  /** Why an assignment failed, for the next use of the handle: an assignment cannot be awaited. */
  failure?: unknown
  /** Whether the peer was reset since. */
  isReleased?: boolean
}

/** The objects of one peer that the host holds. The same object is the same handle as long as someone holds it. */
export interface PeerObjects {
  /** `caller`: the cell that passes the object to host code. */
  receive(tagged: WireObject, caller?: Caller): object
  /** The peer was reset: every object that was received before is gone. */
  releaseAll(): void
}

/** A handle reads and calls in the peer: `await model.predict(x)`, `await model.name`, `model.name = "x"`. An
 *  assignment is made before the next use. `then` is undefined, so a handle can be awaited and returned. */
export function createPeerObjects(peer: Peer): PeerObjects {
  const held = new Map<number, { handle: WeakRef<object>; count: number }>()
  const dropped = new FinalizationRegistry<number>((id) => {
    const entry = held.get(id)
    // The same object may have been received again since.
    if (!entry || entry.handle.deref()) return
    held.delete(id)
    if (peer.alive) peer.release(id, entry.count)
  })
  return {
    receive(tagged, caller) {
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
      dropped.register(handle, id)
      return handle
    },
    releaseAll() {
      for (const [id, { handle, count }] of held) {
        const object = peerObjectOf(handle.deref())
        if (object) object.isReleased = true
        if (peer.alive) peer.release(id, count)
      }
      held.clear()
    },
  }
}

// Each takes about a kilobyte here, and a few bytes in a message.
const maxHeldObjects = 50_000

/** A name that the peer chose, for messages. */
function shortName(name: string): string {
  return name.slice(0, 80).replace(/[^\p{L}\p{N}_$.]+/gu, " ")
}

/** The peer's object that a handle stands for; undefined for anything else. */
export function peerObjectOf(value: unknown): PeerObject | undefined {
  return typeof value === "function" ? peerObjects.get(value) : undefined
}

export function isPeerObject(value: unknown): boolean {
  return peerObjectOf(value) !== undefined
}

/** The binding of a value. A handle can be called, but is an object of the peer's and not a function of the host's. */
export function bindingOf(given: unknown): Binding {
  return isPeerObject(given) ? variable(given) : toBinding(given)
}

/** The tagged value by which a peer finds its own object again. */
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

/** A handle, or a path from it: `model.coefficients.shape` is asked for when it is awaited or called. */
function createPeerHandle(object: PeerObject, path: readonly string[], root?: object): object {
  const { peer, type } = object
  const title = [type, ...path].join(".")
  // A bound function can be constructed and has no `prototype`, which a Proxy would have to show.
  const target = function peerObject() {}.bind(undefined)
  // `inspect` looks behind a Proxy.
  const shown = () => `[${title} ${peer.location}]`
  Object.defineProperty(target, inspect.custom, { value: shown, configurable: true })
  const proxy: object = new Proxy(target, {
    apply: (_target, _this, args: unknown[]) => callPeer(object, title, () => peer.call(object, path, args)),
    // In the peer, a class that is called makes an instance.
    construct: (_target, args: unknown[]) => callPeer(object, title, () => peer.call(object, path, args)),
    get(_target, key) {
      if (key === Symbol.toStringTag) return "PeerObject"
      if (key === Symbol.toPrimitive)
        return path.length > 0 ? () => throwMissingAwait(title, peer) : () => throwNoPrimitive(title, peer)
      // The language asks for these and cannot wait for an answer.
      if (key === "toString" || key === "toJSON") return shown
      if (typeof key === "symbol") return undefined
      // Host code passes callbacks on by these, as event emitters do.
      if (object.isCallable && path.length === 0 && functionMethods.has(key))
        return Reflect.get(Function.prototype, key)
      if (key === "then")
        return path.length === 0 ? undefined : thenOf(() => askPeer(object, () => peer.get(object, path)))
      // A path from a handle keeps the handle alive, and so the peer's object.
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

/** Calls into the peer. A failure that host code does not await belongs to the cell the host works for, or is a warning
 *  when no cell is running. */
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
