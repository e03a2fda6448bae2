import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import type { OutputChunk } from "../runtime.ts"
import type { Channel, Frame } from "./channel.ts"
import { decode } from "./decode.ts"
import { type Encoder, encode } from "./encode.ts"
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

/** What a cell left behind, told by the kernel when it ends. */
export interface Report {
  changes: { created: string[]; reassigned: string[]; removed: string[] }
  error?: ReportedError | undefined
  /** Absent when the cell has no value. */
  value?: { value: unknown } | undefined
}

export interface ReportedError {
  kind: "throw" | "syntax" | "memory"
  message: string
  stack?: string
  line?: number
  column?: number
  /** The number of what a function of the host threw, when that is what the cell failed of. */
  thrown?: number
}

export interface BridgeEvents {
  onOutput(chunk: OutputChunk): void
  onReport(report: Report): void
  /** Makes one call of a function or method of the host. */
  call(entry: HostEntry, method: string | undefined, args: unknown[], named: Record<string, unknown>): Promise<unknown>
  /** A number under which what was thrown can be found again, to be told with the report. */
  thrown(error: unknown): number
}

/** The host's side of the side socket: asks the kernel, and answers it. */
export interface Bridge {
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** No answer will come any more. */
  end(reason: string): void
  readonly ready: Promise<void>
  onFrame(frame: Frame): void
}

/** A failure in Python, as TypeScript sees it: its class is the name, its text the message. */
export class PythonError extends Error {
  /** Where in Python it was raised. */
  readonly traceback: string
  /** Of a value that could not cross: where in it. */
  readonly path: string | undefined
  /** Of a name that is not there: those that are. */
  readonly names: string[] | undefined

  constructor({ name, message, stack, path, names }: { [key: string]: Json }) {
    super(String(message))
    this.name = String(name)
    this.traceback = String(stack ?? "")
    this.path = typeof path === "string" ? path : undefined
    this.names = names === undefined ? undefined : texts(names)
  }
}

export function createBridge(channel: () => Channel, objects: HostObjects, events: BridgeEvents): Bridge {
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
  const decoder = {
    hostObject: (id: number) => objects.find(id).value,
    hostMethod(id: number, name: string) {
      const { value } = objects.find(id)
      return methodOf(value, name).bind(value)
    },
    pythonObject: (id: number, type: string) => handles.receive(id, type),
  }
  const read = (frame: Frame, json: Json | undefined) => decode(json ?? null, frame.buffers, frame.special, decoder)

  const send = (message: { [key: string]: Json }) => channel().send({ message, buffers: [], special: false })

  const ask = (op: string, body: Record<string, unknown> = {}) => {
    if (ended !== undefined) return Promise.reject(gone(ended))
    const i = ++asked
    return new Promise<unknown>((resolve, reject) => {
      const { json, buffers, special } = encode(body, "", [], encoder)
      waiting.set(i, { resolve, reject })
      // The body of a question is an object, so its JSON is one.
      channel().send({ message: { ...(json as { [key: string]: Json }), k: "ask", op, i }, buffers, special })
    })
  }

  const remote: Remote = {
    get alive() {
      return ended === undefined
    },
    get: (of, path) => ask("get", { of, path }),
    set: (of, path, value) => ask("set", { of, path, value }),
    call: (of, path, args, kwargs) => ask("call", { of, path, args, kwargs }),
    release: (id, count) => send({ k: "release", ids: [[id, count]] }),
  }
  const handles = createHandles(remote)

  const answer = async (i: number, work: () => unknown) => {
    try {
      const { json, buffers, special } = encode(await work(), "the result", ["v"], encoder)
      channel().send({ message: { k: "reply", i, v: json }, buffers, special })
    } catch (error) {
      send({ k: "fail", i, e: { ...told(error), thrown: events.thrown(error) } })
    }
  }

  const serve = (frame: Frame) => {
    const { k, i, t, m, v } = frame.message
    const find = () => objects.find(Number(t))
    const name = String(m)
    switch (k) {
      case "call":
        return answer(Number(i), async () => {
          const [args, named] = read(frame, v) as [unknown[], Record<string, unknown>]
          const entry = find()
          return events.call(entry, m === null || m === undefined ? undefined : name, args, named)
        })
      case "get":
        return answer(Number(i), () => {
          const { value } = find()
          if (!hasMember(value, name)) throw new AttributeError(`the host's object has no attribute '${name}'`)
          const member: unknown = Reflect.get(value, name)
          return typeof member === "function" ? member.bind(value) : member
        })
      case "set":
        return answer(Number(i), () => {
          const { value } = find()
          if (!isField(value, name) || !Reflect.set(value, name, read(frame, v))) {
            throw new AttributeError(`attribute '${name}' of the host's object cannot be set`)
          }
          return null
        })
      case "list":
        return answer(Number(i), () => listed(find().value))
      case "members":
        return answer(Number(i), () => membersOf(find().value))
      case "instance":
        return answer(Number(i), () => {
          const { value: type } = find()
          const { value } = objects.find(Number(frame.message.of))
          return typeof type === "function" && value instanceof type
        })
    }
  }

  return {
    ask,
    ready,
    end(reason) {
      ended ??= reason
      for (const { reject } of waiting.values()) reject(gone(reason))
      waiting.clear()
    },
    onFrame(frame) {
      const { k, i, s, t, v, e } = frame.message
      switch (k) {
        case "ready":
          return becomeReady()
        case "out":
          return events.onOutput({ stream: s === "stderr" ? "stderr" : "stdout", text: String(t) })
        case "cell":
          return events.onReport(reportOf(frame.message, () => read(frame, v)))
        case "release":
          for (const [id, count] of pairs(frame.message.ids)) objects.release(Number(id), Number(count))
          return
        case "reply":
        case "fail": {
          const waiter = waiting.get(Number(i))
          waiting.delete(Number(i))
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

// What the kernel says about itself may have been made up by the code in it: only its form is believed.
function reportOf(message: { [key: string]: Json }, read: () => unknown): Report {
  const { created, reassigned, removed } = record(message.changes)
  const changes = { created: texts(created), reassigned: texts(reassigned), removed: texts(removed) }
  if (message.error !== undefined) return { changes, error: errorOf(record(message.error)) }
  if (!("v" in message)) return { changes }
  try {
    return { changes, value: { value: read() } }
  } catch {
    return { changes, value: { value: undefined } }
  }
}

function errorOf({ kind, message, stack, line, column, thrown }: { [key: string]: Json }): ReportedError {
  return {
    kind: kind === "syntax" || kind === "memory" ? kind : "throw",
    message: String(message),
    ...(typeof stack === "string" && { stack }),
    ...(typeof line === "number" && { line }),
    ...(typeof column === "number" && { column }),
    ...(typeof thrown === "number" && { thrown }),
  }
}

function record(found: Json | undefined): { [key: string]: Json } {
  return typeof found === "object" && found !== null && !Array.isArray(found) ? found : {}
}

function texts(found: Json | undefined): string[] {
  return Array.isArray(found) ? found.map(String) : []
}

function told(error: unknown): { name: string; message: string } {
  if (error instanceof Error) return { name: error.name || "Error", message: error.message }
  return { name: "Error", message: String(error) }
}

function listed(value: object): unknown[] {
  const iterate: unknown = Reflect.get(value, Symbol.iterator)
  if (typeof iterate !== "function") throw new TypeError("the host's object is not iterable")
  return Array.from(value as Iterable<unknown>).slice(0, mostListed)
}

function pairs(found: Json | undefined): Json[][] {
  return Array.isArray(found) ? found.filter((pair) => Array.isArray(pair)) : []
}

const mostListed = 1_000_000
