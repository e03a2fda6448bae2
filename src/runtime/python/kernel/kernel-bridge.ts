// The host's end of the socket to one kernel: sends requests, serves the kernel's operations on host objects, and
// receives output and cell reports. Cells themselves are executed through Jupyter (jupyter-client.ts).
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { ConfigError, thrownText } from "../../../core/errors.ts"
import { newId } from "../../../core/message.ts"
import type { Caller } from "../../handles/caller.ts"
import { decodePython } from "../../handles/codec/python-decode.ts"
import { encodePython } from "../../handles/codec/python-encode.ts"
import type { NameReference } from "../../handles/live-references.ts"
import type { HostAccess } from "../../handles/operations.ts"
import { openConnection } from "../../handles/peer-connection.ts"
import { type Peer, peerObjectOf } from "../../handles/peer-objects.ts"
import * as wire from "../../handles/wire.ts"
import type { CellOutput } from "../../runtime.ts"
import { type CellReport, PythonError, parseReport } from "../cell-report.ts"
import { copyTableFile, isKernelTable } from "../tables/table-transfer.ts"

export interface KernelBridgeEvents {
  onOutput(chunk: CellOutput): void
  /** A cell ended; `caller` belongs to that cell. */
  onReport(report: CellReport, caller: Caller): void
  /** The cell read these clock values, and had these effects outside the kernel. */
  onEnvUpdate(reads: number[], effects: string[], caller: Caller): void
  /** Returns a number by which the report of a cell can refer to an error of a host function. */
  registerHostError(error: unknown): number
  /** A callback failed while no cell ran, and the host did not await it. */
  onUnawaitedFailure(error: unknown): void
  /** The kernel sent a message that our code never sends, or closed the connection. */
  onProtocolViolation(reason: string): void
}

export interface KernelBridge {
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** Copies a table of another kernel into this one, and returns the copy. Returns any other value unchanged. */
  importTable(value: unknown): Promise<unknown>
  /** Announces a cell; the host then makes its calls on behalf of `caller`. Its value is shown in about `show`
   *  characters, and kept under the name `keep` if that is not all of it. `finish`: whether it may end its run. */
  announceCell(
    caller: Caller,
    env: { times: readonly number[] | null; seed: string | null; tells: boolean },
    shown: { show: number | null; keep: string | null; finish: boolean },
  ): Promise<void>
  /** Rejects the open requests, because no answer will come. */
  close(reason: string): void
  readonly ready: Promise<void>
}

/** `folder` is the kernel's temporary folder, through which tables go to other kernels. */
export function createKernelBridge(
  link: wire.FrameLink,
  access: HostAccess,
  events: KernelBridgeEvents,
  folder: string,
): KernelBridge {
  const { promise: ready, resolve: onReady } = Promise.withResolvers<void>()

  const onMessage = (message: wire.WireObject, frame: wire.Frame) => {
    switch (message.k) {
      case "ready":
        return onReady()
      case "out":
        return events.onOutput({
          stream: message.s === "stderr" ? "stderr" : "stdout",
          text: wire.expectText(message.t),
        })
      case "news":
        return events.onEnvUpdate(
          wire.expectList(message.reads).map(wire.expectTime),
          wire.expectList(message.effects).map(wire.expectText),
          connection.callerOf(message.x),
        )
      case "cell": {
        const caller = connection.callerOf(message.x)
        return events.onReport(
          parseReport(message, () => connection.read(message.v, frame)),
          caller,
        )
      }
      default:
        throw new wire.ForgedMessage("a message of an unknown kind")
    }
  }

  const connection = openConnection({
    link,
    codec: { encode: encodePython, decode: decodePython },
    access,
    maxHandles: 10_000,
    location: "in Python",
    prepareResult: (value) => (isKernelTable(value) ? importTable(value) : undefined),
    onMessage,
    decodeFailure: (failure) => new PythonError(failure),
    encodeFailure: (error) => ({ ...toPythonError(error), thrown: events.registerHostError(error) }),
    onForged: (what) => events.onProtocolViolation(what),
    onEnd: (problem) => events.onProtocolViolation(problem ?? "nothing more"),
    onUnawaitedFailure: events.onUnawaitedFailure,
  })

  const ask = async (op: string, body: Record<string, unknown> = {}): Promise<unknown> => {
    try {
      return (await connection.ask(op, body, describeBinding)).value
    } catch (error) {
      if (error instanceof wire.CannotCross) throw new ConfigError(error.message, { cause: error })
      throw error
    }
  }

  const importTable = async (value: unknown): Promise<unknown> => {
    const found = isKernelTable(value) ? peerObjectOf(value) : undefined
    const save = found && found.peer !== connection.peer && found.peer.alive ? tableWriters.get(found.peer) : undefined
    if (!found || !save) return value
    const file = await save(found.id)
    const copy = join(folder, newId("table"))
    try {
      await copyTableFile(file, copy)
    } finally {
      await rm(file, { force: true, recursive: true })
    }
    return ask("load", { file: copy })
  }
  tableWriters.set(connection.peer, async (of) => {
    const file = join(folder, newId("table"))
    await ask("save", { of, file })
    return file
  })

  return {
    ask,
    importTable,
    ready,
    async announceCell(caller, env, shown) {
      await ask("begin", { x: connection.beginExecution(caller), ...env, ...shown })
    },
    close: connection.end,
  }
}

/** Writes a table of a kernel to a file in its folder, by kernel. */
const tableWriters = new WeakMap<Peer, (of: number) => Promise<string>>()

/** Finds the name of a binding in a path of the message `{ values: { name: value } }`. */
const describeBinding: NameReference = (where) => {
  const title = where.replace(/^\.(?:values(?=[.[])\.?)?/, "")
  return { binding: /^[\p{L}\p{N}_]+/u.exec(title)?.[0] ?? "the host", title }
}

function toPythonError(error: unknown): { name: string; message: string } {
  try {
    if (!(error instanceof Error)) return { name: "Error", message: thrownText(error).slice(0, maxErrorLength) }
    return { name: `${error.name}` || "Error", message: `${error.message}`.slice(0, maxErrorLength) }
  } catch {
    return { name: "Error", message: "something that cannot be shown was thrown" }
  }
}

const maxErrorLength = 100_000

/** Thrown if a member that Python reads does not exist. It has Python's own name, so that `hasattr` works. */
export class AttributeError extends Error {
  override name = "AttributeError"
}
