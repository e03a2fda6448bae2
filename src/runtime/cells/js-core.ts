import { AgentError, ConfigError } from "../../core/errors.ts"
import type { Bindings } from "../bindings.ts"
import { declare } from "../declare/declare.ts"
import type { JsRuntimeOptions } from "../js.ts"
import { ambientNames } from "../names.ts"
import type { ExecuteOptions, Runtime } from "../runtime.ts"
import { validated } from "../schema.ts"
import type { OpenCellGate } from "../type-gate/cell-gate.ts"
import { createAmbient, renewAmbient } from "./cell-env.ts"
import { cellFilename } from "./errors.ts"
import { executeCell, notStarted } from "./execute.ts"
import { createGuard } from "./guard.ts"
import { createNamespace } from "./namespace.ts"
import { createQueue } from "./queue.ts"
import { CellStopped, RunningCell, running, type Shared } from "./running-cell.ts"
import { watchStrays } from "./strays.ts"
import { createTimers } from "./timers.ts"
import type { Transaction } from "./transaction.ts"

/** A runtime that has everything a runtime may have. */
export type JsCore = Required<Omit<Runtime, "warnings">>

/** The runtime behind `jsRuntime`, with everything it needs. */
export function createJsRuntime(bindings: Bindings | undefined, options: JsRuntimeOptions): JsCore {
  const { rules = [], cwd = process.cwd(), codecs = {}, maxSnapshotBytes = 2 ** 24 } = options
  const number = ++runtimes
  let cellCount = 0
  let closed = false
  let endWatch: (() => void) | undefined

  const shared: Shared = {
    cells: new Set(),
    gate: undefined,
    late: [],
    lateLength: 0,
    epoch: 0,
    onStop(cell) {
      guard.watch(cell)
      timers.clear(cell)
    },
  }
  const guard = createGuard()
  const queue = createQueue()
  const timers = createTimers(shared)
  const ambient = createAmbient({ shared, timers, cwd, scope: () => namespace.scope })
  const namespace = createNamespace(ambientNames, shared)
  const place = { namespace, ambient, ambientNames, guard, rules }
  if (bindings) namespace.inject(bindings)

  const closedError = (use: string) =>
    new AgentError(`${use} came too late: this jsRuntime is closed. Make another one with jsRuntime().`, {
      code: "closed",
    })
  const open = (use: string) => {
    if (closed) throw closedError(use)
    return namespace
  }

  let openGate: OpenCellGate | undefined
  const gateFor = async (typeGate: "hint" | "block") => {
    const { createCellGate } = await import("../type-gate/cell-gate.ts")
    open("The cell")
    openGate ??= createCellGate(namespace, ambientNames)
    return openGate(typeGate)
  }

  // Cells that were transactions and may still be undone.
  const undoable = new Set<Transaction>()
  const expireUndo = () => {
    for (const transaction of undoable) transaction.expire()
    undoable.clear()
  }
  const transactionFor = async (cell: RunningCell, { transaction = false }: ExecuteOptions) => {
    expireUndo()
    if (transaction === false) return undefined
    const { createTransaction } = await import("./transaction.ts")
    const check = transaction === true ? undefined : () => transaction.check(runtime)
    return createTransaction(cell, namespace, check)
  }

  const runCell = async (code: string, parent: RunningCell | undefined, executeOptions: ExecuteOptions) => {
    const { typeGate = "off" } = executeOptions
    const gate = typeGate === "off" ? undefined : await gateFor(typeGate)
    endWatch ??= watchStrays()
    timers.hold(true)
    // What the last cell left on the counter is not for this one.
    guard.left = 0
    const cell = new RunningCell(shared, parent, executeOptions)
    const transaction = await transactionFor(cell, executeOptions)
    try {
      const execution = await executeCell(code, cellFilename(number, ++cellCount), cell, place, gate, transaction)
      if (transaction) undoable.add(transaction)
      const ended = transaction ? transaction.ended(execution) : execution
      return gate ? gate.ran(ended) : ended
    } finally {
      if (shared.cells.size === 0) timers.hold(false)
    }
  }

  /** Does something when no cell is under way, or at once when the cell under way asks for it. */
  const inTurn = async <T>(use: string, job: () => Promise<T>): Promise<T> => {
    if (queue.busy && running.getStore()?.belongsTo(shared)) return job()
    return queue.enter(job).catch((error: unknown) => {
      open(use)
      throw error
    })
  }
  const refuseWithin = (use: string) => {
    open(use)
    if (!queue.busy || !running.getStore()?.belongsTo(shared)) return
    throw new ConfigError(`${use} would take the names from under the cell that calls it. Call it when it has ended.`)
  }
  /** Leaves behind what cells have under way in the namespace as it is. */
  const leave = () => {
    shared.epoch++
    shared.late.length = shared.lateLength = 0
    timers.clear()
    renewAmbient(ambient)
    expireUndo()
  }

  const runtime: JsCore = {
    language: "typescript",
    isolation: "none",
    async inject(more) {
      open("inject()").inject(more)
    },
    async update(values) {
      open("update()").update(values)
    },
    async retrieve(name, schema) {
      return validated(name, open("retrieve()").retrieve(name), schema)
    },
    async execute(code, executeOptions = {}) {
      open("execute()")
      const { signal } = executeOptions
      const parent = running.getStore()
      // A cell under way may wait for this one, also through a leftover, and must not keep it waiting.
      if (queue.busy && parent?.belongsTo(shared)) return runCell(code, parent, executeOptions)
      let started = false
      const run = () => {
        started = true
        return runCell(code, parent, executeOptions)
      }
      try {
        return await queue.enter(run, signal)
      } catch (error) {
        if (started || !signal?.aborted) throw error
        return notStarted("The cell was aborted before its turn came.")
      }
    },
    async describe(names) {
      const { described } = open("describe()")
      return declare(described(names), described(undefined))
    },
    async names() {
      return open("names()").names()
    },
    async keep(prefix, value) {
      return open("keep()").keep(prefix, value)
    },
    async snapshot() {
      open("snapshot()")
      const { takeSnapshot } = await import("../snapshot.ts")
      return inTurn("snapshot()", async () => takeSnapshot(place, { codecs, maxBytes: maxSnapshotBytes }))
    },
    async restore(snapshot) {
      refuseWithin("restore()")
      const { loadSnapshot } = await import("../snapshot.ts")
      return inTurn("restore()", () => loadSnapshot(snapshot, place, { codecs, leave }))
    },
    async fork() {
      open("fork()")
      const { takeCopy } = await import("../snapshot.ts")
      const copy = await inTurn("fork()", async () => takeCopy(place, codecs))
      const other = createJsRuntime(namespace.given(), options)
      await other.restore?.(copy)
      return other
    },
    async reset() {
      refuseWithin("reset()")
      await inTurn("reset()", async () => {
        leave()
        namespace.reset()
      })
    },
    async close() {
      if (closed) return
      closed = true
      queue.refuse(closedError("The cell"))
      for (const cell of shared.cells)
        cell.stop(new CellStopped("aborted", "The cell was aborted: its runtime was closed."))
      shared.epoch++
      timers.clear()
      expireUndo()
      endWatch?.()
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  return runtime
}

let runtimes = 0
