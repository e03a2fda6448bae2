// The host's end of the connection with one peer. It sends requests to the peer, performs the peer's operations on host
// objects, and translates values in both directions.
import { AgentError, errorData } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { type Caller, currentCaller } from "./caller.ts"
import { currentDigest } from "./codec/copy-digest.ts"
import { createExecutionIds } from "./execution-ids.ts"
import { createHostObjects, type HostObjects } from "./host-objects.ts"
import { createReferenceCodec, type NameReference, nameUnbound } from "./live-references.ts"
import { readOperation } from "./operations/read-operation.ts"
import { type HostAccess, type Operation, type OperationResult, performOperation } from "./operations.ts"
import type { Peer } from "./peer-objects.ts"
import * as wire from "./wire.ts"

export interface ConnectionOptions {
  link: wire.FrameLink
  codec: wire.WireCodec
  access: HostAccess
  /** The maximum number of host objects that the peer may hold. */
  maxHandles: number
  /** Where the peer's objects live, for error messages. */
  location: string
  /** Handles other messages, such as output and reports. Throws `ForgedMessage` for an invalid one. */
  onMessage(message: wire.WireObject, frame: wire.Frame): void
  /** Decodes a failure that the peer answered with into an error for host code. */
  decodeFailure(failure: wire.WireObject, read: (json: Json | undefined) => unknown): unknown
  /** Encodes an error of a host function for the peer's language. */
  encodeFailure(error: unknown, encode: (value: unknown, name: string) => Json): wire.WireObject
  /** Returns a replacement for the result of an operation, or undefined to send the result unchanged. */
  prepareResult?: ((value: unknown) => Promise<unknown> | undefined) | undefined
  /** The peer sent a message that our own code never sends. The handler must end the peer. */
  onForged(what: string): void
  onEnd(problem?: string): void
  /** A callback failed outside any cell, and no code awaited it. */
  onUnawaitedFailure(error: unknown): void
}

export interface Connection {
  /** Sends a request to the peer. `nameReference` names the live objects in `body`, for error messages and the call
   *  gate. */
  ask(op: string, body?: Record<string, unknown>, nameReference?: NameReference): Promise<PeerAnswer>
  send(message: wire.WireObject): void
  /** Answers a request of the peer with a failure. */
  fail(i: number, error: unknown): void
  /** Returns the id of a new execution. Calls with this id are made for `caller`. */
  beginExecution(caller: Caller): string
  /** Returns the caller of an execution. Throws `ForgedMessage` for an id that was never issued. */
  callerOf(execution: Json | undefined): Caller
  /** Decodes a value. Host functions in it are gated if a cell is the caller; the runtime's owner gets the
   *  originals. */
  read(json: Json | undefined, frame: wire.Frame): unknown
  /** Called when the peer is reset. Host code that then uses an object of an earlier cell gets an error. */
  forgetPeerObjects(): void
  /** Rejects all waiting and all later requests with the reason. */
  end(reason: string): void
  readonly objects: HostObjects
  readonly peer: Peer
}

/** `value` is decoded for the calling cell, or for the runtime's owner if no cell is the caller. */
export interface PeerAnswer {
  message: wire.WireObject
  value: unknown
}

export function openConnection(options: ConnectionOptions): Connection {
  const { link, codec, access, prepareResult } = options
  const objects = createHostObjects(access.functions, options.maxHandles)
  const waiting = new Map<number, Waiter>()
  const executions = createExecutionIds()
  let asked = 0
  let inFlight = 0
  let bytesInFlight = 0
  let ended: string | undefined

  const peer: Peer = {
    location: options.location,
    get alive() {
      return ended === undefined
    },
    get: async ({ id: of, caller }, path) => (await ask("get", { of, path }, nameUnbound, caller)).value,
    set: async ({ id: of, caller }, path, value) => (await ask("set", { of, path, value }, nameUnbound, caller)).value,
    call: async ({ id: of, caller }, path, args) => (await ask("call", { of, path, args }, nameUnbound, caller)).value,
    release: (id, count) => send({ k: "release", ids: [[id, count]] }),
    onUnawaitedFailure: options.onUnawaitedFailure,
  }
  const { encodeReferences, decodeReferences, forgetPeerObjects } = createReferenceCodec(objects, access, peer)

  const sendFrame = (message: wire.WireObject, buffers: readonly Uint8Array[], special: boolean) => {
    const shapes = objects.shapes.takeNew()
    // The shapes come first, so that a reader that decodes while it parses knows them before their first use.
    const whole = shapes.length > 0 ? { sh: shapes, ...message } : message
    try {
      link.send({ message: whole, buffers, special: special || shapes.length > 0 })
    } catch (error) {
      objects.shapes.returnUnsent(shapes)
      throw error
    }
  }
  const send = (message: wire.WireObject) => sendFrame(message, [], false)

  /** `passedBy`: the cell that passed the object, used if no cell is the current caller. */
  const ask = (
    op: string,
    body: Record<string, unknown> = {},
    nameReference: NameReference = nameUnbound,
    passedBy?: Caller,
  ): Promise<PeerAnswer> => {
    if (ended !== undefined) return Promise.reject(goneError(ended))
    const i = ++asked
    const caller = currentCaller.getStore() ?? passedBy
    return new Promise((resolve, reject) => {
      objects.sendCounted(() => {
        const { json, buffers, special } = codec.encode(body, "", encodeReferences(nameReference))
        sendFrame({ ...wire.expectRecord(json), k: "ask", op, i }, buffers, special)
      })
      waiting.set(i, { resolve, reject, caller })
      link.keepProcessAlive(true)
    })
  }

  const settle = (message: wire.WireObject, frame: wire.Frame) => {
    const waiter = waiting.get(wire.expectId(message.i))
    if (!waiter) throw new wire.ForgedMessage("an answer to nothing that was asked")
    waiting.delete(wire.expectId(message.i))
    if (waiting.size === 0) link.keepProcessAlive(false)
    const decode = (json: Json | undefined) => codec.decode(json ?? null, frame, decodeReferences(waiter.caller))
    try {
      if (message.k === "fail") waiter.reject(options.decodeFailure(wire.expectRecord(message.e), decode))
      else waiter.resolve({ message, value: decode(message.v) })
    } catch (error) {
      waiter.reject(error)
      if (wire.ForgedMessage.is(error)) throw error
    }
  }

  const read = (json: Json | undefined, frame: wire.Frame) =>
    codec.decode(json ?? null, frame, decodeReferences(currentCaller.getStore()))

  const digest = (value: unknown) => currentDigest(value, codec)

  const serve = (message: wire.WireObject, frame: wire.Frame) => {
    const i = wire.expectId(message.i)
    // Decode synchronously, so that operations start in the order in which they were sent.
    const asked = attempt(() => {
      const caller = executions.callerOf(message.x)
      const decode = (json: Json) => codec.decode(json, frame, decodeReferences(caller))
      return { caller, operation: readOperation(message, objects, decode, digest) }
    })
    if ("error" in asked) return fail(i, asked.error)
    const { caller, operation } = asked.value
    const size = frame.size ?? 0
    if (inFlight >= maxCallsInFlight || (inFlight > 0 && bytesInFlight + size > maxBytesInFlight)) {
      const most = `${maxCallsInFlight} calls, or ${maxBytesInFlight} bytes of arguments,`
      return fail(i, new Error(`More than ${most} wait for their answers: await some before the next.`))
    }
    inFlight++
    bytesInFlight += size
    const done = () => {
      inFlight--
      bytesInFlight -= size
    }
    const failed = (error: unknown) => {
      done()
      fail(i, error)
    }
    const succeed = (outcome: OperationResult) => {
      done()
      reply(i, outcome, operation)
    }
    const performed = (outcome: OperationResult) => {
      const prepared = outcome.method ? undefined : prepareResult?.(outcome.value)
      if (prepared) prepared.then((value) => succeed({ value }), failed)
      else succeed(outcome)
    }
    const work = performOperation(operation, access, caller)
    if (work instanceof Promise) work.then(performed, failed)
    else performed(work)
  }

  const reply = (i: number, outcome: OperationResult, { op, path, object: { binding, title } }: Operation) => {
    const where = `${path.reduce(wire.appendMember, title)}${op === "call" ? "(…)" : ""}`
    try {
      objects.sendCounted(() => {
        if (outcome.method) {
          const { owner, name } = outcome.method
          const of = objects.encodeReference(owner, binding, where)
          return sendFrame({ k: "reply", i, v: { $: "hm", of, name } }, [], true)
        }
        const references = encodeReferences((place) => ({ binding, title: place }))
        const { json, buffers, special } = codec.encode(outcome.value, where, references)
        sendFrame({ k: "reply", i, v: json }, buffers, special)
      })
    } catch (error) {
      fail(i, op === "call" || op === "new" ? resultFailure(where, error) : error)
    }
  }

  const fail = (i: number, error: unknown) => {
    if (wire.ForgedMessage.is(error)) return options.onForged(error.message)
    try {
      objects.sendCounted(() => sendFailure(i, error))
    } catch {
      sendFailure(i, new Error("The call failed, and its error is too large to cross."))
    }
  }

  const sendFailure = (i: number, error: unknown) => {
    const buffers: Uint8Array[] = []
    let special = false
    const encode = (value: unknown, name: string): Json => {
      const encoded = codec.encode(value, name, encodeReferences(nameUnbound))
      buffers.push(...encoded.buffers)
      special ||= encoded.special
      return encoded.json
    }
    sendFrame({ k: "fail", i, e: options.encodeFailure(error, encode) }, buffers, special)
  }

  link.listen({
    onFrame(frame) {
      const { message } = frame
      try {
        switch (message.k) {
          case "reply":
          case "fail":
            return settle(message, frame)
          case "op":
            return serve(message, frame)
          case "release":
            for (const pair of wire.expectList(message.ids)) {
              const [id, count] = wire.expectList(pair)
              objects.release(wire.expectId(id), wire.expectId(count))
            }
            return
          default:
            return options.onMessage(message, frame)
        }
      } catch (error) {
        if (!wire.ForgedMessage.is(error)) throw error
        options.onForged(error.message)
      }
    },
    onEnd: options.onEnd,
  })

  return {
    ask,
    send,
    fail,
    objects,
    peer,
    read,
    forgetPeerObjects,
    callerOf: executions.callerOf,
    beginExecution: executions.issue,
    end(reason) {
      ended ??= reason
      for (const { reject } of waiting.values()) reject(goneError(reason))
      waiting.clear()
    },
  }
}

interface Waiter {
  resolve(answer: PeerAnswer): void
  reject(error: unknown): void
  /** The calling cell. Functions in the answer are gated for it. */
  caller: Caller | undefined
}

const maxCallsInFlight = 10_000
const maxBytesInFlight = 512 * 1024 * 1024

function attempt<T>(work: () => T): { value: T } | { error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}

function goneError(reason: string): AgentError {
  return new AgentError(`The runtime's process is gone: ${reason}.`, { code: "gone" })
}

/** The error for a result that cannot be sent, which says that the call was made. */
function resultFailure(title: string, error: unknown): unknown {
  if (wire.ForgedMessage.is(error)) return error
  return new wire.CannotCross(`${title} was called, but its result cannot be sent: ${errorData(error).message}`)
}
