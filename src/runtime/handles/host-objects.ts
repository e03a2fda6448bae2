// The host objects that one peer holds: their numbers, their shapes, and how often each was sent.
import { types } from "node:util"
import { agentRuntimeInfo, viewForOtherProcess } from "../bindings/cell-agent.ts"
import type { BoundFunction, GatedFunctions } from "./gated-functions.ts"
import { createSentShapes, objectShapeOf, type SentShapes } from "./object-shapes.ts"
import { CannotCross, ForgedMessage, type WireObject } from "./wire.ts"

/** A host object that a peer may use. */
export interface HostObject {
  readonly id: number
  /** The object that operations apply to: the object itself, or the part of an agent that cells may use. */
  readonly value: object
  /** The object that host code receives when the peer passes the handle back. */
  readonly original: object
  /** The binding through which the object was reached. The call gate names calls after it. */
  readonly binding: string
  /** The expression that reached the object, for example `order.customer`. */
  readonly title: string
  /** Set for a function binding. */
  readonly bound?: BoundFunction | undefined
}

/** Returns the members from an object's binding to one of the object's members, for example `runtime.update`. */
export function pathFromBinding({ binding, title }: HostObject, path: readonly string[]): string {
  const isPath = title.startsWith(`${binding}.`) && /^[\p{ID_Continue}$.]+$/u.test(title)
  return [...(isPath ? [title.slice(binding.length + 1)] : []), ...path].join(".")
}

/** An object has the same number as long as the peer holds it. */
export interface HostObjects {
  /** Returns the tagged value for an object or function that was reached through `binding`. */
  encodeReference(value: object, binding: string, where: string): WireObject
  /** Returns the tagged value of a function binding. The peer can never release it. */
  bind(bound: BoundFunction): WireObject
  /** Throws `ForgedMessage` for a number that was never sent, and a `ReferenceError` for one that was released. */
  find(id: number): HostObject
  has(value: object): boolean
  /** Runs `work`, which encodes and sends a message. If it throws, the objects in the message do not count as sent. */
  sendCounted<T>(work: () => T): T
  /** The peer dropped an object that it had received `count` times. */
  release(id: number, count: number): void
  readonly shapes: SentShapes
}

export function createHostObjects(functions: GatedFunctions, limit: number): HostObjects {
  const byId = new Map<number, CountedHostObject>()
  const byValue = new Map<object, CountedHostObject>()
  const byName = new Map<string, CountedHostObject>()
  const shapes = createSentShapes()
  let last = 0
  let sentInMessage: number[] = []

  const release = (id: number, count: number) => {
    const entry = byId.get(id)
    // The peer cannot release a function binding.
    if (!entry || entry.bound || !(count > 0)) return
    entry.sentCount -= count
    if (entry.sentCount > 0) return
    byId.delete(id)
    byValue.delete(entry.original)
  }

  const count = (entry: CountedHostObject) => {
    entry.sentCount++
    sentInMessage.push(entry.id)
  }

  const addObject = (value: object, binding: string, where: string): CountedHostObject => {
    const known = byValue.get(value)
    if (known) return known
    if (types.isPromise(value)) throw new CannotCross(`${where} is a promise: await it first.`)
    if (byValue.size >= limit) {
      throw new CannotCross(`${where} cannot cross: there are ${limit} live handles already. Let go of some first.`)
    }
    const title = where.length > maxTitleLength ? `${where.slice(0, maxTitleLength)}…` : where
    const entry = { id: ++last, value: viewForOtherProcess(value), original: value, binding, title, sentCount: 0 }
    byId.set(entry.id, entry)
    byValue.set(value, entry)
    return entry
  }

  const bind = (bound: BoundFunction): WireObject => {
    const { name, target } = bound
    const { call } = target
    const known = byName.get(name)
    const entry = known ?? { id: ++last, value: call, original: call, binding: name, title: name, bound, sentCount: 0 }
    entry.value = entry.original = call
    entry.bound = bound
    byName.set(name, entry)
    byId.set(entry.id, entry)
    const { description: doc } = target.options
    const shape = { ...objectShapeOf(call), is: "function" as const, name, ...(doc !== undefined && { doc }) }
    return { $: "h", id: entry.id, s: shapes.numberOf(shape), b: name }
  }

  return {
    shapes,
    bind,
    encodeReference(value, binding, where) {
      const bound = functions.findBinding(value)
      if (bound) return bind(bound)
      const method = functions.methodOf(value)
      if (method) {
        const entry = addObject(method.owner, method.bindingName, where)
        count(entry)
        return { $: "hm", of: handleTag(entry, shapes), name: method.name }
      }
      const entry = addObject(value, binding, where)
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
      sentInMessage = []
      try {
        return work()
      } catch (error) {
        for (const id of sentInMessage) release(id, 1)
        throw error
      } finally {
        sentInMessage = []
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
  /** How often the object was sent to the peer, without the times that the peer has released. */
  sentCount: number
}

function handleTag({ id, value, title }: HostObject, shapes: SentShapes): WireObject {
  const shape = objectShapeOf(value)
  const whole = agentRuntimeInfo(value)?.language === "python"
  return { $: "h", id, s: shapes.numberOf(whole ? { ...shape, whole } : shape), b: title }
}
