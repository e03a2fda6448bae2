// The child's end of the connection with its host: values and operations in both directions.
import { thrownText } from "../../../core/errors.ts"
import { isObject } from "../../../core/object.ts"
import { decodeJavaScript } from "../../handles/codec/javascript-decode.ts"
import { encodeJavaScript } from "../../handles/codec/javascript-encode.ts"
import { readMember, readPath } from "../../handles/operations/reachable-members.ts"
import { createPendingResult, pendingResultOf } from "../../handles/pending-result.ts"
import type { DecodeReferences, EncodeReferences, Frame, FrameLink, WireObject } from "../../handles/wire.ts"
import { CannotCross, expectRecord } from "../../handles/wire.ts"
import { cellFrames } from "../../js/cell-errors.ts"
import { registerOriginal, unwrapProxy } from "../../js/proxies/function-proxy.ts"
import { cellStorage, type RunningCell } from "../../js/running-cell.ts"
import type { CallGate } from "../../runtime.ts"
import { type ExecutionSummary, summaryToWire } from "../child-protocol.ts"
import { nameArgumentInMessage } from "./argument-names.ts"
import { createCellObjects, type RunInContext } from "./cell-objects.ts"
import { createFieldCopies } from "./field-copies.ts"
import { createHostHandles, type OperateOnHost } from "./host-handles.ts"
import { memberTitle } from "./unawaited-members.ts"

/** `flush` sends pending output and updates. It is called before each message. */
export function createHostConnection(link: FrameLink, flush: () => void) {
  const executionOf = new WeakMap<CallGate, string>()
  const cells = new Map<string, RunningCell>()
  const waiting = new Map<number, { resolve(answered: HostAnswer): void; reject(error: unknown): void }>()
  const objects = createCellObjects()
  const bound = new WeakMap<object, object>()
  let runInLatestCell: RunInContext | undefined
  let lastRequest = 0

  const send = (message: WireObject, { buffers, special }: Pick<Frame, "buffers" | "special"> = plain) => {
    flush()
    link.send({ message, buffers, special })
  }

  const request = (message: WireObject, encoded?: Pick<Frame, "buffers" | "special">): Promise<HostAnswer> =>
    new Promise((resolve, reject) => {
      const i = ++lastRequest
      waiting.set(i, { resolve, reject })
      try {
        send({ ...message, i }, encoded)
      } catch (error) {
        waiting.delete(i)
        reject(error)
      }
    })

  const operate: OperateOnHost = (op, target, args, askedAt = new Error()) => {
    const cell = cellStorage.getStore()
    cell?.throwIfStopped()
    const execution = cell?.gate && executionOf.get(cell.gate)
    if (!cell || execution === undefined) {
      throw new Error(
        `${target.title} was not reached: no cell is running this code, so no approval could hold for it.`,
      )
    }
    const isAssignment = op === "set"
    const isWriteBack = isAssignment && copies.isCopyOf(args[0], target.id, target.path)
    const encoded = encodeArguments(op, target.title, args)
    copies.recordSent(cell, args)
    const message: WireObject = { k: "op", x: execution, op, t: target.id, p: [...target.path], v: encoded.json }
    const was = isWriteBack ? copies.beginWriteBack(args[0]) : undefined
    if (isWriteBack) message.back = true
    if (was !== undefined) message.was = was
    if (target.optional?.length) message.o = [...target.optional]
    const work = request(message, encoded).then(({ value, frame }) => {
      if (op === "get" && isObject(value) && !handles.referenceOf(value)) copies.recordRead(cell, target, value, frame)
      if (was !== undefined) copies.finishWriteBack(cell, target.title, args[0], value)
      return value
    })
    const failed = (error: unknown): never => {
      // The host sends errors without their stack, so the cell's frames are added here.
      if (error instanceof Error) error.stack = [error.stack, ...cellFrames(askedAt)].join("\n")
      throw error
    }
    const answered = work.catch(failed)
    track(cell, answered)
    // A transaction reports these operations, because they cannot be rolled back. Calls of function bindings are
    // recorded by the binding.
    if (op !== "get" && (op !== "call" || target.path.length > 0)) cell.countCall(target.title)
    if (isAssignment) {
      answered.catch((error: unknown) => {
        cell.endChecks.push(() => {
          throw error
        })
      })
    }
    return op === "call" || op === "new" ? awaitableResult(answered, `${target.title}(…)`) : answered
  }

  const handles = createHostHandles(operate, (id, count) => {
    if (released.push([id, count]) === 1) setImmediate(() => send({ k: "release", ids: released.splice(0) }))
  })
  const released: [number, number][] = []

  const decodeReferences: DecodeReferences = {
    decodeHostObject(tagged) {
      const handle = handles.get(tagged)
      // A function binding must be the same function that cells know by name.
      return bound.get(handle) ?? handle
    },
    decodeHostMethod: ({ of, name }) => handles.method(handles.get(expectRecord(of)), String(name)),
    decodePeerObject: ({ id }) => objects.find(Number(id)).value,
  }
  const copies = createFieldCopies(
    (json, frame) =>
      decodeJavaScript(json, frame, {
        ...decodeReferences,
        decodeHostObject(tagged) {
          const handle = handles.get(tagged, false)
          return bound.get(handle) ?? handle
        },
        decodeHostMethod: ({ of, name }) => handles.method(handles.get(expectRecord(of), false), String(name)),
      }),
    (value) => encode(value, "the copy"),
  )

  const encodeReferences: EncodeReferences = {
    isHandle: (value) =>
      handles.referenceOf(value) !== undefined ||
      memberTitle(value) !== undefined ||
      pendingResultOf(value) !== undefined,
    copiesMethods: true,
    encodeReference(given, where, owner) {
      const value = Object(unwrapProxy(given))
      const reference = handles.referenceOf(value)
      if (reference) return reference
      const title = memberTitle(value) ?? pendingResultOf(value)?.title
      if (title !== undefined)
        throw new CannotCross(`${where} is ${title}, which was not awaited: write \`await\` before it.`)
      if (value instanceof Promise) throw new CannotCross(`${where} is a promise: await it first.`)
      return objects.reference(value, cellStorage.getStore() ? undefined : runInLatestCell, owner)
    },
  }
  const encode = (value: unknown, name: string) => encodeJavaScript(value, name, encodeReferences, true)

  const encodeArguments = (op: string, title: string, args: readonly unknown[]) => {
    try {
      return encode(op === "call" || op === "new" ? [args, {}] : args, "the arguments")
    } catch (error) {
      if (!(error instanceof CannotCross)) throw error
      throw new CannotCross(nameArgumentInMessage(error.message, op, title))
    }
  }

  /** `name`: the name of the value in error messages. */
  const reply = (i: number, value: unknown, name = "the value") => {
    const encoded = encode(value, name)
    send({ k: "reply", i, v: encoded.json }, encoded)
  }

  return {
    decodeReferences,
    /** Returns the number of the host object behind a handle. */
    idOf: handles.idOf,
    /** Called when a cell begins. Calls through `gate` then carry the id of the execution. */
    beginExecution(execution: string, gate: CallGate): void {
      executionOf.set(gate, execution)
    },
    onCell(cell: RunningCell): void {
      const execution = cell.gate && executionOf.get(cell.gate)
      if (execution !== undefined) cells.set(execution, cell)
      runInLatestCell = (work) => cellStorage.run(cell, work)
      // Forget ended cells: only running cells can start others.
      for (const [id, known] of cells) if (known.hasEnded && known !== cell) cells.delete(id)
    },
    /** Records that cells know the handle `call` of a function binding as `cellFunction`. */
    onBound(call: object, cellFunction: object): void {
      bound.set(call, cellFunction)
    },
    /** Returns the newest cell of an execution. */
    cellOf: (execution: string): RunningCell | undefined => cells.get(execution),
    /** Asks the host whether to commit a transaction. */
    requestTransactionCheck: async (x: string): Promise<unknown> => (await request({ k: "check", x })).value,
    reply,
    replyExecuted(i: number, summary: ExecutionSummary, value: unknown, thrown: unknown): void {
      const s = summaryToWire(summary)
      try {
        const values = thrown === undefined ? (value === undefined ? [] : [value]) : [value, thrown]
        const encoded = encode(values, "the value")
        send({ k: "reply", i, s, v: encoded.json }, encoded)
      } catch {
        // The preview shows the value. `retrieve` reports why it cannot be sent.
        send({ k: "reply", i, s, v: [] })
      }
    },
    fail(i: number, error: unknown): void {
      const sendError = (given: Error) => {
        const encoded = encode(given, "the error")
        send({ k: "fail", i, e: { error: encoded.json } }, encoded)
      }
      try {
        sendError(error instanceof Error ? error : new Error(thrownText(error)))
      } catch (cause) {
        // The error cannot be sent, perhaps because it is too long. The host must get an answer nevertheless.
        sendError(new Error(`${thrownText(error).slice(0, 2_000)} (${thrownText(cause)})`))
      }
    },
    /** Handles an answer or a release. Returns false for any other frame. */
    handleFrame(frame: Frame): boolean {
      const { message } = frame
      if (Array.isArray(message.sh)) handles.addShapes(message.sh.map(expectRecord))
      if (message.k === "release") {
        for (const [id, count] of message.ids as [number, number][]) objects.release(id, count)
        return true
      }
      if (message.k !== "reply" && message.k !== "fail") return false
      const waiter = waiting.get(Number(message.i))
      waiting.delete(Number(message.i))
      try {
        const json = message.k === "reply" ? (message.v ?? null) : (expectRecord(message.e).error ?? null)
        const value = decodeJavaScript(json, frame, decodeReferences)
        if (message.k === "reply") waiter?.resolve({ value, frame })
        else waiter?.reject(value)
      } catch (error) {
        waiter?.reject(error)
      }
      return true
    },
    /** The operations that the host can ask of this child's objects. */
    objectOperations: {
      async get({ of, path }: ObjectInput) {
        const { value, within } = objects.find(of)
        return within(() => readPath(value, path))
      },
      async set({ of, path, value }: ObjectInput & { value: unknown }) {
        const { value: object, within } = objects.find(of)
        within(() => {
          const owner = readPath(object, path.slice(0, -1))
          if (!isObject(owner) || !Reflect.set(owner, String(path.at(-1)), value)) {
            throw new TypeError(`Cannot set "${path.at(-1)}".`)
          }
        })
      },
      async call({ of, path, args }: ObjectInput & { args: unknown[] }) {
        const { value, within, owner: methodOwner } = objects.find(of)
        return within(() => {
          const owner = path.length === 0 ? methodOwner : readPath(value, path.slice(0, -1))
          const method: unknown = path.length === 0 ? value : readMember(owner, String(path.at(-1)))
          if (typeof method !== "function") throw new TypeError(`${path.join(".") || "The object"} is not a function`)
          return isConstructor(method) ? Reflect.construct(method, args) : Reflect.apply(method, owner, args)
        })
      },
    },
  }
}

interface ObjectInput {
  of: number
  path: string[]
}

interface HostAnswer {
  value: unknown
  frame: Frame
}

const plain = { buffers: [], special: false }

function isConstructor(method: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(method))
}

function track(cell: RunningCell, call: Promise<unknown>): void {
  const settle = () => void cell.openCalls.delete(call)
  cell.openCalls.add(call)
  call.then(settle, settle)
}

/** Returns the result of a call for the cell. If the call fails and is not awaited, the rejection is reported like any
 *  unhandled one. */
export function awaitableResult(answered: Promise<unknown>, title: string): Promise<unknown> {
  const copy = answered.then((value) => value)
  const { result } = createPendingResult(copy, title)
  // The runtime itself sees a plain promise when it reads the value of a name.
  registerOriginal(result, () => copy)
  return result
}
