import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { type Caller, currentCaller } from "./caller.ts"
import { currentDigest } from "./codec/copy-digest.ts"
import { createExecutionIds } from "./execution-ids.ts"
import { createHostObjects, type HostObjects } from "./host-objects.ts"
import { createReferenceCodec, type NameReference, nameUnbound } from "./live-references.ts"
import { readOperation } from "./operations/read-operation.ts"
import { type HostAccess, type Operation, type OperationResult, performOperation } from "./operations.ts"
import type { Peer } from "./peer-objects.ts"
import {
  appendMember,
  expectId,
  expectList,
  expectRecord,
  ForgedMessage,
  type Frame,
  type FrameLink,
  type WireCodec,
  type WireObject,
} from "./wire.ts"

// The host's end of the connection with one peer: it asks the peer, performs the peer's operations on host objects, and
// translates values both ways.

export interface ConnectionOptions {
  link: FrameLink
  codec: WireCodec
  access: HostAccess
  /** How many host objects the peer may hold. */
  maxHandles: number
  /** Where the peer's objects live, for messages. */
  location: string
  /** Other messages: output, reports, recorded time. Throws `Forged` for one that makes no sense. */
  onMessage(message: WireObject, frame: Frame): void
  /** What a failure that the peer answered with is to host code. */
  decodeFailure(encodeFailure: WireObject, read: (json: Json | undefined) => unknown): unknown
  /** An error of a host function on its way to the peer, as the peer's language wants it. */
  failure(error: unknown, encode: (value: unknown, name: string) => Json): WireObject
  /** Another value for the result of an operation; undefined where the result is sent as it is. */
  prepareResult?: ((value: unknown) => Promise<unknown> | undefined) | undefined
  /** The peer sent something that our own code never sends; it must be ended. */
  onForged(what: string): void
  onEnd(problem?: string): void
  /** A callback failed outside of any cell, and no code awaited it. */
  onUnawaitedFailure(error: unknown): void
}

export interface Connection {
  /** Asks the peer. The values in `body` are encoded; `named` says how live objects in them are called. */
  ask(op: string, body?: Record<string, unknown>, named?: NameReference): Promise<PeerAnswer>
  send(message: WireObject): void
  /** Answers something that the peer asked with a failure. */
  fail(i: number, error: unknown): void
  /** Returns the id of a new execution, whose calls are made for `caller`. */
  beginExecution(caller: Caller): string
  /** The caller of an execution; throws `Forged` for an id that was never given out. */
  callerOf(execution: Json | undefined): Caller
  /** Decodes a value for the owner of the runtime, who gets the host's own functions and not gated ones, unless it
   *  works for a cell. */
  read(json: Json | undefined, frame: Frame): unknown
  /** The peer was reset: host code that uses an object of an earlier cell gets an error. */
  forgetPeerObjects(): void
  /** Rejects every request that waits for an answer, and all later ones, with the reason. */
  end(reason: string): void
  readonly objects: HostObjects
  readonly peer: Peer
}

/** An answer of the peer. `value` is decoded for the cell that the host works for, else for the owner of the
 *  runtime. */
export interface PeerAnswer {
  message: WireObject
  value: unknown
}

export function openConnection(options: ConnectionOptions): Connection {
  const { link, codec, access, prepareResult: prepare } = options
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

  const sendFrame = (message: WireObject, buffers: readonly Uint8Array[], special: boolean) => {
    const shapes = objects.shapes.takeNew()
    // First in the text: a reader that decodes while it parses knows the shapes before their first use.
    const whole = shapes.length > 0 ? { sh: shapes, ...message } : message
    try {
      link.send({ message: whole, buffers, special: special || shapes.length > 0 })
    } catch (error) {
      objects.shapes.returnUnsent(shapes)
      throw error
    }
  }
  const send = (message: WireObject) => sendFrame(message, [], false)

  /** `passedBy`: the cell that passed what is asked, for host code that works for no cell at the moment. */
  const ask = (
    op: string,
    body: Record<string, unknown> = {},
    named: NameReference = nameUnbound,
    passedBy?: Caller,
  ): Promise<PeerAnswer> => {
    if (ended !== undefined) return Promise.reject(goneError(ended))
    const i = ++asked
    const caller = currentCaller.getStore() ?? passedBy
    return new Promise((resolve, reject) => {
      objects.sendCounted(() => {
        const { json, buffers, special } = codec.encode(body, "", encodeReferences(named))
        sendFrame({ ...expectRecord(json), k: "ask", op, i }, buffers, special)
      })
      waiting.set(i, { resolve, reject, caller })
      link.keepProcessAlive(true)
    })
  }

  const settle = (message: WireObject, frame: Frame) => {
    const waiter = waiting.get(expectId(message.i))
    if (!waiter) throw new ForgedMessage("an answer to nothing that was asked")
    waiting.delete(expectId(message.i))
    if (waiting.size === 0) link.keepProcessAlive(false)
    const decode = (json: Json | undefined) => codec.decode(json ?? null, frame, decodeReferences(waiter.caller))
    try {
      if (message.k === "fail") waiter.reject(options.decodeFailure(expectRecord(message.e), decode))
      else waiter.resolve({ message, value: decode(message.v) })
    } catch (error) {
      waiter.reject(error)
      if (ForgedMessage.is(error)) throw error
    }
  }

  const read = (json: Json | undefined, frame: Frame) =>
    codec.decode(json ?? null, frame, decodeReferences(currentCaller.getStore()))

  const digest = (value: unknown) => currentDigest(value, codec)

  const serve = (message: WireObject, frame: Frame) => {
    const i = expectId(message.i)
    // Read before anything is awaited, so that operations begin in the order they were sent.
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
      const prepared = outcome.method ? undefined : prepare?.(outcome.value)
      if (prepared) prepared.then((value) => succeed({ value }), failed)
      else succeed(outcome)
    }
    const work = performOperation(operation, access, caller)
    if (work instanceof Promise) work.then(performed, failed)
    else performed(work)
  }

  const reply = (i: number, outcome: OperationResult, { op, path, object: { binding, title } }: Operation) => {
    const where = `${path.reduce(appendMember, title)}${op === "call" ? "(…)" : ""}`
    try {
      objects.sendCounted(() => {
        if (outcome.method) {
          const { owner, name } = outcome.method
          const of = objects.reference(owner, binding, where)
          return sendFrame({ k: "reply", i, v: { $: "hm", of, name } }, [], true)
        }
        const references = encodeReferences((place) => ({ binding, title: place }))
        const { json, buffers, special } = codec.encode(outcome.value, where, references)
        sendFrame({ k: "reply", i, v: json }, buffers, special)
      })
    } catch (error) {
      fail(i, error)
    }
  }

  const fail = (i: number, error: unknown) => {
    if (ForgedMessage.is(error)) return options.onForged(error.message)
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
    sendFrame({ k: "fail", i, e: options.failure(error, encode) }, buffers, special)
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
            for (const pair of expectList(message.ids)) {
              const [id, count] = expectList(pair)
              objects.release(expectId(id), expectId(count))
            }
            return
          default:
            return options.onMessage(message, frame)
        }
      } catch (error) {
        if (!ForgedMessage.is(error)) throw error
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
  /** The cell that the host works for: functions in the answer are gated for it. */
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
