import { types } from "node:util"
import { agentRuntimeInfo, viewForOtherProcess } from "../bindings/cell-agent.ts"
import type { BoundFunction, GatedFunctions } from "./gated-functions.ts"
import { createSentShapes, objectShapeOf, type SentShapes } from "./object-shapes.ts"
import { CannotCross, ForgedMessage, type WireObject } from "./wire.ts"

/** An object of the host that a peer may use. */
export interface HostObject {
  readonly id: number
  /** What the peer uses: the object itself, or the part of an agent that cells may use. */
  readonly value: object
  /** What host code gets when the peer passes the object back. */
  readonly original: object
  /** The binding through which it was reached; calls are named by it. */
  readonly binding: string
  /** How it was reached, as a program would write it: `order.customer`. */
  readonly title: string
  /** Set for a function binding. */
  readonly bound?: BoundFunction | undefined
}

/** The members from the binding of an object to one of its own: `runtime.update`. */
export function pathFromBinding({ binding, title }: HostObject, path: readonly string[]): string {
  const isPath = title.startsWith(`${binding}.`) && /^[\p{ID_Continue}$.]+$/u.test(title)
  return [...(isPath ? [title.slice(binding.length + 1)] : []), ...path].join(".")
}

/** The host objects that one peer holds. The same object always has the same number while the peer holds it. */
export interface HostObjects {
  /** The tagged value for an object or function; `binding` is the name it was reached by. */
  reference(value: object, binding: string, where: string): WireObject
  /** The number of a function binding, which the peer holds for good. */
  bind(bound: BoundFunction): WireObject
  /** Throws `Forged` for a number that was never given out and a `ReferenceError` for one that was released. */
  find(id: number): HostObject
  has(value: object): boolean
  /** Encodes and sends a message: when that fails, the objects in it do not count as sent. */
  sendCounted<T>(work: () => T): T
  /** The peer dropped an object that it had received `count` times. */
  release(id: number, count: number): void
  readonly shapes: SentShapes
}

export function createHostObjects(functions: GatedFunctions, most: number): HostObjects {
  const byId = new Map<number, CountedHostObject>()
  const byValue = new Map<object, CountedHostObject>()
  const byName = new Map<string, CountedHostObject>()
  const shapes = createSentShapes()
  let last = 0
  let ofMessage: number[] = []

  const release = (id: number, count: number) => {
    const entry = byId.get(id)
    // A binding stays, whatever the peer says.
    if (!entry || entry.bound || !(count > 0)) return
    entry.received -= count
    if (entry.received > 0) return
    byId.delete(id)
    byValue.delete(entry.original)
  }

  const count = (entry: CountedHostObject) => {
    entry.received++
    ofMessage.push(entry.id)
  }

  const enter = (value: object, binding: string, where: string): CountedHostObject => {
    const known = byValue.get(value)
    if (known) return known
    if (types.isPromise(value)) throw new CannotCross(`${where} is a promise: await it first.`)
    if (byValue.size >= most) {
      throw new CannotCross(`${where} cannot cross: there are ${most} live handles already. Let go of some first.`)
    }
    const title = where.length > maxTitleLength ? `${where.slice(0, maxTitleLength)}…` : where
    const entry = { id: ++last, value: viewForOtherProcess(value), original: value, binding, title, received: 0 }
    byId.set(entry.id, entry)
    byValue.set(value, entry)
    return entry
  }

  const bind = (bound: BoundFunction): WireObject => {
    const known = byName.get(bound.name)
    const { call, options } = bound.target
    const entry = known ?? {
      id: ++last,
      value: call,
      original: call,
      binding: bound.name,
      title: bound.name,
      bound,
      received: 0,
    }
    entry.value = entry.original = call
    entry.bound = bound
    byName.set(bound.name, entry)
    byId.set(entry.id, entry)
    const { description: doc } = options
    const shape = {
      ...objectShapeOf(call),
      is: "function" as const,
      name: bound.name,
      ...(doc !== undefined && { doc }),
    }
    return { $: "h", id: entry.id, s: shapes.numberOf(shape), b: bound.name }
  }

  return {
    shapes,
    bind,
    reference(value, binding, where) {
      const bound = functions.boundBy(value)
      if (bound) return bind(bound)
      const method = functions.methodOf(value)
      if (method) {
        const entry = enter(method.owner, method.binding, where)
        count(entry)
        return { $: "hm", of: handleTag(entry, shapes), name: method.name }
      }
      const entry = enter(value, binding, where)
      count(entry)
      return handleTag(entry, shapes)
    },
    find(id) {
      const entry = byId.get(id)
      if (entry) return entry
      if (id > last || id < 1) throw new ForgedMessage(`handle ${id}, which it was not given`)
      throw new ReferenceError("The host object is gone: this process has released it.")
    },
    has: (value) => byValue.has(value),
    sendCounted(work) {
      ofMessage = []
      try {
        return work()
      } catch (error) {
        for (const id of ofMessage) release(id, 1)
        throw error
      } finally {
        ofMessage = []
      }
    },
    release,
  }
}

const maxTitleLength = 500

interface CountedHostObject extends HostObject {
  value: object
  original: object
  bound?: BoundFunction | undefined
  /** How often the peer was sent the object; it gives back as many. */
  received: number
}

function handleTag({ id, value, title }: HostObject, shapes: SentShapes): WireObject {
  const shape = objectShapeOf(value)
  const whole = agentRuntimeInfo(value)?.language === "python"
  return { $: "h", id, s: shapes.numberOf(whole ? { ...shape, whole } : shape), b: title }
}
