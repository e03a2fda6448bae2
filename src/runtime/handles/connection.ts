import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { type Caller, callers } from "./caller.ts"
import { currentDigest } from "./copy-digest.ts"
import { createExecutions } from "./executions.ts"
import { createHostObjects, type HostObjects } from "./host-objects.ts"
import { type HostAccess, type Operation, type Outcome, performOperation } from "./operations.ts"
import type { Peer } from "./peer-objects.ts"
import { readOperation } from "./read-operation.ts"
import { createReferences, type NameLive, unnamed } from "./references.ts"
import {
  type Codec,
  Forged,
  type Frame,
  type FrameLink,
  idIn,
  listIn,
  memberPath,
  recordIn,
  type WireObject,
} from "./wire.ts"

// The host's end of the connection with one peer: it asks the peer, performs the peer's operations on host objects, and
// translates values both ways.

export interface ConnectionOptions {
  link: FrameLink
  codec: Codec
  access: HostAccess
  /** How many host objects the peer may hold. */
  maxHandles: number
  /** Where the peer's objects live, for messages. */
  place: string
  /** Other messages: output, reports, recorded time. Throws `Forged` for one that makes no sense. */
  onMessage(message: WireObject, frame: Frame): void
  /** What a failure that the peer answered with is to host code. */
  peerError(failure: WireObject, read: (json: Json | undefined) => unknown): unknown
  /** An error of a host function on its way to the peer, as the peer's language wants it. */
  failure(error: unknown, encode: (value: unknown, name: string) => Json): WireObject
  /** Another value for the result of an operation; undefined where the result is sent as it is. */
  prepare?: ((value: unknown) => Promise<unknown> | undefined) | undefined
  /** The peer sent something that our own code never sends; it must be ended. */
  onForged(what: string): void
  onEnd(problem?: string): void
  /** A callback failed outside of any cell, and no code awaited it. */
  onForgottenFailure(error: unknown): void
}

export interface Connection {
  /** Asks the peer. The values in `body` are encoded; `named` says how live objects in them are called. */
  ask(op: string, body?: Record<string, unknown>, named?: NameLive): Promise<Answer>
  send(message: WireObject): void
  /** Answers something that the peer asked with a failure. */
  fail(i: number, error: unknown): void
  /** Returns the id of a new execution, whose calls are made for `caller`. */
  begin(caller: Caller): string
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
export interface Answer {
  message: WireObject
  value: unknown
}

export function openConnection(options: ConnectionOptions): Connection {
  const { link, codec, access, prepare } = options
  const objects = createHostObjects(access.functions, options.maxHandles)
  const waiting = new Map<number, Waiter>()
  const executions = createExecutions()
  let asked = 0
  let inFlight = 0
  let bytesInFlight = 0
  let ended: string | undefined

  const peer: Peer = {
    place: options.place,
    get alive() {
      return ended === undefined
    },
    get: async ({ id: of, caller }, path) => (await ask("get", { of, path }, unnamed, caller)).value,
    set: async ({ id: of, caller }, path, value) => (await ask("set", { of, path, value }, unnamed, caller)).value,
    call: async ({ id: of, caller }, path, args) => (await ask("call", { of, path, args }, unnamed, caller)).value,
    release: (id, count) => send({ k: "release", ids: [[id, count]] }),
    onForgottenFailure: options.onForgottenFailure,
  }
  const { encodeReferences, decodeReferences, forgetPeerObjects } = createReferences(objects, access, peer)

  const sendFrame = (message: WireObject, buffers: readonly Uint8Array[], special: boolean) => {
    const shapes = objects.shapes.takeNew()
    // First in the text: a reader that decodes while it parses knows the shapes before their first use.
    const whole = shapes.length > 0 ? { sh: shapes, ...message } : message
    try {
      link.send({ message: whole, buffers, special: special || shapes.length > 0 })
    } catch (error) {
      objects.shapes.putBack(shapes)
      throw error
    }
  }
  const send = (message: WireObject) => sendFrame(message, [], false)

  /** `passedBy`: the cell that passed what is asked, for host code that works for no cell at the moment. */
  const ask = (
    op: string,
    body: Record<string, unknown> = {},
    named: NameLive = unnamed,
    passedBy?: Caller,
  ): Promise<Answer> => {
    if (ended !== undefined) return Promise.reject(goneError(ended))
    const i = ++asked
    const caller = callers.getStore() ?? passedBy
    return new Promise((resolve, reject) => {
      objects.inMessage(() => {
        const { json, buffers, special } = codec.encode(body, "", encodeReferences(named))
        sendFrame({ ...recordIn(json), k: "ask", op, i }, buffers, special)
      })
      waiting.set(i, { resolve, reject, caller })
      link.hold(true)
    })
  }

  const settle = (message: WireObject, frame: Frame) => {
    const waiter = waiting.get(idIn(message.i))
    if (!waiter) throw new Forged("an answer to nothing that was asked")
    waiting.delete(idIn(message.i))
    if (waiting.size === 0) link.hold(false)
    const decode = (json: Json | undefined) => codec.decode(json ?? null, frame, decodeReferences(waiter.caller))
    try {
      if (message.k === "fail") waiter.reject(options.peerError(recordIn(message.e), decode))
      else waiter.resolve({ message, value: decode(message.v) })
    } catch (error) {
      waiter.reject(error)
      if (Forged.is(error)) throw error
    }
  }

  const read = (json: Json | undefined, frame: Frame) =>
    codec.decode(json ?? null, frame, decodeReferences(callers.getStore()))

  const digest = (value: unknown) => currentDigest(value, codec)

  const serve = (message: WireObject, frame: Frame) => {
    const i = idIn(message.i)
    // Read before anything is awaited, so that operations begin in the order they were sent.
    const asked = attempt(() => {
      const caller = executions.callerOf(message.x)
      const decode = (json: Json) => codec.decode(json, frame, decodeReferences(caller))
      return { caller, operation: readOperation(message, objects, decode, digest) }
    })
    if ("error" in asked) return fail(i, asked.error)
    const { caller, operation } = asked.value
    const size = frame.size ?? 0
    if (inFlight >= mostInFlight || (inFlight > 0 && bytesInFlight + size > mostBytesInFlight)) {
      const most = `${mostInFlight} calls, or ${mostBytesInFlight} bytes of arguments,`
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
    const succeed = (outcome: Outcome) => {
      done()
      reply(i, outcome, operation)
    }
    const performed = (outcome: Outcome) => {
      const prepared = outcome.method ? undefined : prepare?.(outcome.value)
      if (prepared) prepared.then((value) => succeed({ value }), failed)
      else succeed(outcome)
    }
    const work = performOperation(operation, access, caller)
    if (work instanceof Promise) work.then(performed, failed)
    else performed(work)
  }

  const reply = (i: number, outcome: Outcome, { op, path, object: { binding, title } }: Operation) => {
    const where = `${path.reduce(memberPath, title)}${op === "call" ? "(…)" : ""}`
    try {
      objects.inMessage(() => {
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
    if (Forged.is(error)) return options.onForged(error.message)
    try {
      objects.inMessage(() => sendFailure(i, error))
    } catch {
      sendFailure(i, new Error("The call failed, and its error is too large to cross."))
    }
  }

  const sendFailure = (i: number, error: unknown) => {
    const buffers: Uint8Array[] = []
    let special = false
    const encode = (value: unknown, name: string): Json => {
      const encoded = codec.encode(value, name, encodeReferences(unnamed))
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
            for (const pair of listIn(message.ids)) {
              const [id, count] = listIn(pair)
              objects.release(idIn(id), idIn(count))
            }
            return
          default:
            return options.onMessage(message, frame)
        }
      } catch (error) {
        if (!Forged.is(error)) throw error
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
    begin: executions.begin,
    end(reason) {
      ended ??= reason
      for (const { reject } of waiting.values()) reject(goneError(reason))
      waiting.clear()
    },
  }
}

interface Waiter {
  resolve(answer: Answer): void
  reject(error: unknown): void
  /** The cell that the host works for: functions in the answer are gated for it. */
  caller: Caller | undefined
}

const mostInFlight = 10_000
const mostBytesInFlight = 512 * 1024 * 1024

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
