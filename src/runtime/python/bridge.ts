import { rm } from "node:fs/promises"
import { join } from "node:path"
import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { newId } from "../../core/message.ts"
import { isClass } from "../bindings.ts"
import { isPlain } from "../declare/inspect.ts"
import type { OutputChunk } from "../runtime.ts"
import type { Channel, Frame } from "./channel.ts"
import { type Decoder, decode } from "./decode.ts"
import { type Encoder, encode } from "./encode.ts"
import { isFrame, passOn } from "./frames.ts"
import { createHandles, pythonObjectOf, type Remote } from "./handles.ts"
import {
  AttributeError,
  type HostEntry,
  type HostObjects,
  hasMember,
  isField,
  membersOf,
  methodOf,
} from "./host-objects.ts"
import { keepAlive } from "./keep-alive.ts"
import { list, malformed, number, PythonError, pairs, type Report, record, reportOf, text } from "./told.ts"

export interface BridgeEvents {
  onOutput(chunk: OutputChunk): void
  onReport(report: Report): void
  /** What the clock of the cell has shown, and by what it has reached outside. */
  onNews(reads: number[], effects: string[]): void
  /** Makes one call of a function or method of the host. */
  call(entry: HostEntry, method: string | undefined, args: unknown[], named: Record<string, unknown>): Promise<unknown>
  /** A number under which what was thrown can be found again, to be told with the report. */
  thrown(error: unknown): number
}

/** The host's side of the side socket: asks the kernel, and answers it. */
export interface Bridge {
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** The same table in this kernel, where the value is one that lives in another; else the value itself. */
  adopt(value: unknown): Promise<unknown>
  /** No answer will come any more. */
  end(reason: string): void
  readonly ready: Promise<void>
  onFrame(frame: Frame): void
}

/** `folder` is the kernel's own, where it can read and write. */
export function createBridge(
  channel: () => Channel,
  objects: HostObjects,
  events: BridgeEvents,
  folder: string,
): Bridge {
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>()
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let asked = 0
  let ended: string | undefined

  const encoder: Encoder = {
    standFor: objects.standFor,
    bindFunction: objects.bindFunction,
    pythonObject(handle: object) {
      const found = pythonObjectOf(handle)
      if (found?.remote !== remote) {
        throw new AgentError(
          "The Python object is gone: it lived in another kernel, or in this one before it was restarted.",
          {
            code: "gone",
          },
        )
      }
      return found.id
    },
  }
  const decoder: Decoder = {
    hostObject: (id) => objects.find(id).original,
    hostMethod(id, name) {
      const { value } = objects.find(id)
      return methodOf(value, name).bind(value)
    },
    pythonObject: (id, type) => handles.receive(id, type),
  }
  // What code in the kernel gives to the host's own code may be called there, and such a call passes the gate as well.
  const gated: Decoder = {
    ...decoder,
    hostObject: (id) => objects.gated(id, (entry, args) => events.call(entry, undefined, args, {})),
    hostMethod(id, name) {
      const entry = objects.find(id)
      methodOf(entry.value, name)
      return (...args: unknown[]) => events.call(entry, name, args, {})
    },
  }
  const read = (frame: Frame, json: Json | undefined, by = decoder) =>
    decode(json ?? null, frame.buffers, frame.special, by)

  const send = (message: { [key: string]: Json }) => channel().send({ message, buffers: [], special: false })

  const ask = (op: string, body: Record<string, unknown> = {}) => {
    if (ended !== undefined) return Promise.reject(gone(ended))
    const i = ++asked
    const answered = new Promise<unknown>((resolve, reject) => {
      const { json, buffers, special } = encode(body, "", [], encoder)
      // The body of a question is an object, so its JSON is one.
      channel().send({ message: { ...(json as { [key: string]: Json }), k: "ask", op, i }, buffers, special })
      waiting.set(i, { resolve, reject })
    })
    return keepAlive(answered)
  }

  const remote: Remote = {
    get alive() {
      return ended === undefined
    },
    get: (of, path) => ask("get", { of, path }),
    set: (of, path, value) => ask("set", { of, path, value }),
    call: (of, path, args, kwargs) => ask("call", { of, path, args, kwargs }),
    async save(of) {
      const file = join(folder, newId("table"))
      await ask("save", { of, file })
      return file
    },
    release: (id, count) => send({ k: "release", ids: [[id, count]] }),
  }

  const adopt = async (value: unknown): Promise<unknown> => {
    const found = isFrame(value) ? pythonObjectOf(value) : undefined
    if (!found || found.remote === remote || !found.remote.alive) return value
    const file = await found.remote.save(found.id)
    const own = join(folder, newId("table"))
    try {
      await passOn(file, own)
    } finally {
      await rm(file, { force: true, recursive: true })
    }
    return ask("load", { file: own })
  }
  const handles = createHandles(remote)

  const answer = async (i: number, work: () => unknown) => {
    try {
      const result = await adopt(await work())
      if (result === method)
        return channel().send({ message: { k: "reply", i, v: method }, buffers: [], special: true })
      const { json, buffers, special } = encode(result, "the result", ["v"], encoder)
      channel().send({ message: { k: "reply", i, v: json }, buffers, special })
    } catch (error) {
      send({ k: "fail", i, e: { ...told(error), thrown: events.thrown(error) } })
    }
  }

  const serve = (frame: Frame) => {
    const { k, t, m, v, of } = frame.message
    const i = number(frame.message.i)
    const find = () => objects.find(number(t))
    switch (k) {
      case "call":
        return answer(i, async () => {
          const [args, named] = argumentsOf(read(frame, v, gated))
          return events.call(find(), m === null || m === undefined ? undefined : text(m), args, named)
        })
      case "get":
        return answer(i, () => {
          const { value } = find()
          const name = text(m)
          if (!hasMember(value, name)) throw new AttributeError(`the host's object has no attribute '${name}'`)
          const member: unknown = Reflect.get(value, name)
          return typeof member === "function" && !isClass(member) ? method : member
        })
      case "set":
        return answer(i, () => {
          const { value } = find()
          const name = text(m)
          if (!isField(value, name) || !Reflect.set(value, name, read(frame, v, gated))) {
            throw new AttributeError(`attribute '${name}' of the host's object cannot be set`)
          }
          return null
        })
      case "list":
        return answer(i, () => listed(find().value))
      case "members":
        return answer(i, () => membersOf(find().value))
      case "instance":
        return answer(i, () => {
          const { value: type } = find()
          const { value } = objects.find(number(of))
          return typeof type === "function" && value instanceof type
        })
    }
    throw malformed("a message of an unknown kind")
  }

  return {
    ask,
    adopt,
    ready,
    end(reason) {
      ended ??= reason
      for (const { reject } of waiting.values()) reject(gone(reason))
      waiting.clear()
    },
    onFrame(frame) {
      const { k, i, s, t, v, e, ids } = frame.message
      switch (k) {
        case "ready":
          return becomeReady()
        case "out":
          return events.onOutput({ stream: s === "stderr" ? "stderr" : "stdout", text: text(t) })
        case "news":
          return events.onNews(list(frame.message.reads).map(number), list(frame.message.effects).map(text))
        case "cell":
          return events.onReport(reportOf(frame.message, () => read(frame, v)))
        case "release":
          for (const [id, count] of pairs(ids)) objects.release(number(id), number(count))
          return
        case "reply":
        case "fail": {
          const waiter = waiting.get(number(i))
          waiting.delete(number(i))
          if (k === "fail") return waiter?.reject(new PythonError(record(e)))
          try {
            return waiter?.resolve(read(frame, v))
          } catch (error) {
            return waiter?.reject(error instanceof Error ? error : new Error(String(error)))
          }
        }
        default:
          serve(frame)
      }
    },
  }
}

function gone(reason: string): AgentError {
  return new AgentError(`The Python kernel is gone: ${reason}.`, { code: "gone" })
}

function argumentsOf(found: unknown): [args: unknown[], named: Record<string, unknown>] {
  const [args, named] = Array.isArray(found) ? found : []
  if (!Array.isArray(args) || typeof named !== "object" || !isPlain(named)) throw malformed("a call without arguments")
  return [args, named]
}

function told(error: unknown): { name: string; message: string } {
  try {
    if (error instanceof Error)
      return { name: `${error.name}` || "Error", message: `${error.message}`.slice(0, longest) }
    return { name: "Error", message: String(error).slice(0, longest) }
  } catch {
    return { name: "Error", message: "something that cannot be shown was thrown" }
  }
}

function listed(value: object): unknown[] {
  const iterate: unknown = Reflect.get(value, Symbol.iterator)
  if (typeof iterate !== "function") throw new TypeError("the host's object is not iterable")
  const items: unknown[] = []
  for (const item of value as Iterable<unknown>) if (items.push(item) >= mostListed) break
  return items
}

const mostListed = 1_000_000
const longest = 100_000

/** Stands for a member that is a method: Python has its object already, and calls it by that. */
const method: { [key: string]: Json } = { $: "hm" }
