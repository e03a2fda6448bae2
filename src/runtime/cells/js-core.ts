import { AgentError } from "../../core/errors.ts"
import type { Bindings } from "../bindings.ts"
import { lookAtAgents } from "../declare/agent.ts"
import { declare } from "../declare/declare.ts"
import type { JsRuntimeOptions } from "../js.ts"
import { ambientNames } from "../names.ts"
import { type ExecuteOptions, type Runtime, snapshotBytes } from "../runtime.ts"
import { validated } from "../schema.ts"
import type { WholeSnapshot } from "../snapshot.ts"
import type { OpenCellGate } from "../type-gate/cell-gate.ts"
import { createAmbient, renewAmbient } from "./cell-env.ts"
import { cellFilename } from "./errors.ts"
import { executeCell } from "./execute.ts"
import { createGuard, type ValueChecks } from "./guard.ts"
import { createNamespace } from "./namespace.ts"
import { CellStopped, RunningCell, running, type Shared } from "./running-cell.ts"
import { watchStrays } from "./strays.ts"
import { createTimers } from "./timers.ts"
import type { Transaction } from "./transaction.ts"
import { createTurns } from "./turns.ts"

/** A runtime that has everything a runtime may have. */
export type JsCore = Required<Omit<Runtime, "warnings" | "writable">>

// What only some runtimes use, loaded at the first use. To ask for a module again costs more than a small cell.
const parts: { transaction?: typeof import("./transaction.ts"); snapshot?: typeof import("../snapshot.ts") } = {}

/** What a runtime in a child process adds to its cells, whose objects may be remote. */
export interface RemoteCells extends ValueChecks {
  resultOf: NonNullable<Shared["resultOf"]>
  /** Called before a cell runs. */
  onCell(cell: RunningCell): void
  onBound: NonNullable<Shared["onBound"]>
}

/** The runtime behind `jsRuntime`, with everything it needs. */
export function createJsRuntime(
  bindings: Bindings | undefined,
  options: JsRuntimeOptions,
  loaded = new Map<string, string[]>(),
  remote?: RemoteCells,
): JsCore {
  const { rules = [], cwd = process.cwd(), codecs = {} } = options
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
    resultOf: remote?.resultOf,
    onBound: remote?.onBound,
  }
  const guard = createGuard(remote)
  const timers = createTimers(shared)
  const ambient = createAmbient({ shared, timers, cwd, scope: () => namespace.scope })
  const namespace = createNamespace(ambientNames, shared, codecs)
  const place = { namespace, ambient, ambientNames, guard, rules, checksValues: remote !== undefined }
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
  const transactionFor = async (cell: RunningCell, wanted: ExecuteOptions["transaction"]) => {
    parts.transaction ??= await import("./transaction.ts")
    const { createTransaction } = parts.transaction
    const check = typeof wanted === "object" ? () => wanted.check(runtime) : undefined
    return createTransaction(cell, namespace, check)
  }

  const runCell = async (code: string, parent: RunningCell | undefined, executeOptions: ExecuteOptions) => {
    const { typeGate = "off", transaction: wanted } = executeOptions
    const gate = typeGate === "off" ? undefined : await gateFor(typeGate)
    endWatch ??= watchStrays()
    timers.hold(true)
    // What the last cell left on the counter is not for this one.
    guard.left = 0
    const cell = new RunningCell(shared, parent, executeOptions)
    remote?.onCell(cell)
    expireUndo()
    const transaction = wanted ? await transactionFor(cell, wanted) : undefined
    try {
      const execution = await executeCell(code, cellFilename(number, ++cellCount), cell, place, gate, transaction)
      if (transaction) undoable.add(transaction)
      const ended = transaction ? transaction.ended(execution) : execution
      return gate ? gate.ran(ended) : ended
    } finally {
      if (shared.cells.size === 0) timers.hold(false)
    }
  }

  // The last whole snapshot, where only changes are asked for.
  const wholeSnapshot: { last?: WholeSnapshot | undefined } = {}
  const turns = createTurns(shared, open)
  /** Leaves behind what cells have under way in the namespace as it is. */
  const leave = () => {
    shared.epoch++
    shared.late.length = shared.lateLength = 0
    timers.clear()
    renewAmbient(ambient)
    expireUndo()
    wholeSnapshot.last = undefined
  }

  const runtime: JsCore = {
    language: "typescript",
    isolation: "none",
    async inject(more) {
      open("inject()").inject(more)
    },
    async load(file) {
      open("load()")
      const known = loaded.get(file)
      if (known) return known
      const { moduleBindings } = await import("../load-module.ts")
      // What the module starts belongs to nobody's cell.
      const exported = await running.exit(() => moduleBindings(file))
      const names = loaded.get(file) ?? Object.keys(exported)
      if (!loaded.has(file)) open("load()").inject(exported)
      loaded.set(file, names)
      return names
    },
    async update(values) {
      open("update()").update(values)
    },
    async retrieve(name, schema) {
      return validated(name, open("retrieve()").retrieve(name), schema)
    },
    execute: (code, executeOptions = {}) =>
      turns.cell((parent) => runCell(code, parent, executeOptions), executeOptions.signal),
    async describe(names) {
      const { described } = open("describe()")
      const wanted = described(names)
      return declare(wanted, described(undefined), false, await lookAtAgents(wanted.values()))
    },
    async names() {
      return open("names()").names()
    },
    async keep(prefix, value) {
      return open("keep()").keep(prefix, value)
    },
    async snapshot(limit) {
      open("snapshot()")
      parts.snapshot ??= await import("../snapshot.ts")
      const { takeSnapshot } = parts.snapshot
      return turns.take("snapshot()", async () =>
        takeSnapshot(place, {
          codecs,
          maxBytes: snapshotBytes(options.maxSnapshotBytes, limit),
          since: limit?.since,
          base: wholeSnapshot,
        }),
      )
    },
    async restore(snapshot) {
      open("restore()")
      turns.refuseWithin("restore()")
      const { loadSnapshot } = await import("../snapshot.ts")
      return turns.take("restore()", () => loadSnapshot(snapshot, place, { codecs, leave }))
    },
    async fork() {
      open("fork()")
      const { takeCopy } = await import("../snapshot.ts")
      const copy = await turns.take("fork()", async () => takeCopy(place, codecs))
      const other = createJsRuntime(namespace.given(), options, new Map(loaded))
      await other.restore(copy)
      return other
    },
    async reset() {
      open("reset()")
      turns.refuseWithin("reset()")
      await turns.take("reset()", async () => {
        leave()
        namespace.reset()
      })
    },
    async close() {
      if (closed) return
      closed = true
      turns.end(closedError("The cell"))
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
