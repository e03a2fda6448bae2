// The implementation of `jsRuntime`, also used by the child process of processRuntime to run its cells.

import { ambientNames } from "../bindings/binding-names.ts"
import type { Bindings } from "../bindings.ts"
import { closedRuntimeError } from "../cell-queue.ts"
import { describeAgentRuntimes } from "../declare/declare-agent.ts"
import { declareBindings } from "../declare/declare-bindings.ts"
import type { JsRuntimeOptions } from "../js.ts"
import { type CellOptions, type Runtime, snapshotBytes } from "../runtime.ts"
import type { RuntimeLoss } from "../runtime-loss.ts"
import { validateRetrieved } from "../schema.ts"
import type { FullSnapshot } from "../snapshot.ts"
import type { OpenCellTypeGate } from "../type-gate/in-process-type-gate.ts"
import { createAmbient, resetAmbient } from "./ambient/cell-env.ts"
import { createCellTimers } from "./ambient/cell-timers.ts"
import { cellFilename } from "./cell-errors.ts"
import { createCellScheduler } from "./cell-scheduler.ts"
import { executeCell } from "./execute-cell.ts"
import { createLoopGuard, type RemoteValueChecks } from "./loop-guard.ts"
import { createNamespace } from "./namespace.ts"
import { cellStorage, createSharedCellState, RunningCell, type SharedCellState } from "./running-cell.ts"
import type { Transaction } from "./transaction.ts"
import { captureCellRejections } from "./unhandled-rejections.ts"

/** A runtime with all optional methods. */
export interface JsCore
  extends Required<Omit<Runtime, "access" | "warnings" | "writableFolders" | "fork" | "notCopied">> {
  fork(): Promise<JsCore>
  notCopied?: readonly RuntimeLoss[]
}

// Modules that only some runtimes need, loaded at first use. A repeated `import()` costs more than a small cell.
const lazyModules: { transaction?: typeof import("./transaction.ts"); snapshot?: typeof import("../snapshot.ts") } = {}

/** Hooks of the child process, whose cells use remote objects. */
export interface RemoteCellHooks extends RemoteValueChecks {
  wrapCallResult: NonNullable<SharedCellState["wrapCallResult"]>
  /** Called before a cell runs. */
  onCell(cell: RunningCell): void
  onFunctionBound: NonNullable<SharedCellState["onFunctionBound"]>
}

/** `loaded` has the names of each loaded module file. */
export function createJsRuntime(
  bindings: Bindings | undefined,
  options: JsRuntimeOptions,
  loaded = new Map<string, string[]>(),
  remote?: RemoteCellHooks,
): JsCore {
  const { rules = [], cwd = process.cwd(), codecs = {} } = options
  const runtimeNumber = ++runtimeCount
  let cellCount = 0
  let closed = false
  let stopCapturing: (() => void) | undefined

  const shared: SharedCellState = createSharedCellState({
    onCellStopped(cell) {
      guard.watchStoppedCell(cell)
      timers.clear(cell)
    },
    wrapCallResult: remote?.wrapCallResult,
    onFunctionBound: remote?.onFunctionBound,
  })
  const guard = createLoopGuard(remote)
  const timers = createCellTimers(shared)
  const ambient = createAmbient({ shared, timers, cwd, scope: () => namespace.scope })
  const namespace = createNamespace(ambientNames, shared, codecs)
  const context = { namespace, ambient, ambientNames, guard, rules, checkRemoteValues: remote !== undefined }
  if (bindings) namespace.inject(bindings)

  const requireOpen = (operation: string) => {
    if (closed) throw closedRuntimeError("jsRuntime", operation)
    return namespace
  }

  let typeGateOpener: OpenCellTypeGate | undefined
  const openTypeGate = async (typeGate: "hint" | "block") => {
    const { createInProcessTypeGate } = await import("../type-gate/in-process-type-gate.ts")
    requireOpen("The cell")
    typeGateOpener ??= createInProcessTypeGate(namespace, ambientNames)
    return typeGateOpener(typeGate)
  }

  // Transactions that can still be undone.
  const undoable = new Set<Transaction>()
  const expireUndo = () => {
    for (const transaction of undoable) transaction.expire()
    undoable.clear()
  }
  const transactionFor = async (cell: RunningCell, requested: CellOptions["transaction"]) => {
    lazyModules.transaction ??= await import("./transaction.ts")
    const { createTransaction } = lazyModules.transaction
    const check = typeof requested === "object" ? () => requested.check(runtime) : undefined
    return createTransaction(cell, namespace, check)
  }

  const runCell = async (code: string, parent: RunningCell | undefined, executeOptions: CellOptions) => {
    const { typeGate = "off", transaction: requested } = executeOptions
    const gate = typeGate === "off" ? undefined : await openTypeGate(typeGate)
    stopCapturing ??= captureCellRejections()
    timers.setKeepsHostAlive(true)
    guard.restart()
    namespace.digests.addMissing(namespace.bindings)
    const cell = new RunningCell(shared, parent, executeOptions)
    remote?.onCell(cell)
    expireUndo()
    const transaction = requested ? await transactionFor(cell, requested) : undefined
    try {
      const filename = cellFilename(runtimeNumber, ++cellCount)
      const execution = await executeCell(code, filename, cell, context, gate, transaction)
      if (transaction) undoable.add(transaction)
      const ended = transaction ? transaction.withUndo(execution) : execution
      return gate ? gate.recordExecution(ended) : ended
    } finally {
      if (shared.cells.size === 0) timers.setKeepsHostAlive(false)
    }
  }

  // The last full snapshot, the base of snapshots that contain only changes.
  const snapshotBase: { last?: FullSnapshot | undefined } = {}
  const scheduler = createCellScheduler(shared, requireOpen)
  /** Ends everything that cells still have running in the current namespace. */
  const endCells = () => {
    shared.epoch++
    shared.lateOutput.length = shared.lateOutputLength = 0
    timers.clear()
    resetAmbient(ambient)
    expireUndo()
    snapshotBase.last = undefined
  }

  const runtime: JsCore = {
    language: "typescript",
    isolation: "none",
    async inject(more) {
      requireOpen("inject()").inject(more)
    },
    async load(file) {
      requireOpen("load()")
      const known = loaded.get(file)
      if (known) return known
      const { loadModuleBindings } = await import("../bindings/module-bindings.ts")
      // The module's own code does not belong to the calling cell.
      const exported = await cellStorage.exit(() => loadModuleBindings(file))
      const names = loaded.get(file) ?? Object.keys(exported)
      if (!loaded.has(file)) requireOpen("load()").inject(exported)
      loaded.set(file, names)
      return names
    },
    async update(values) {
      requireOpen("update()").update(values)
    },
    async retrieve(name, schema) {
      return validateRetrieved(name, requireOpen("retrieve()").retrieve(name), schema)
    },
    execute: (code, executeOptions = {}) =>
      scheduler.runCell((parent) => runCell(code, parent, executeOptions), executeOptions.signal),
    async describe(names) {
      const { bindingsToDescribe } = requireOpen("describe()")
      const shown = bindingsToDescribe(names)
      const injected = bindingsToDescribe(undefined)
      return declareBindings(shown, injected, false, await describeAgentRuntimes(shown.values()))
    },
    async names() {
      return requireOpen("names()").names()
    },
    async keep(prefix, value) {
      return requireOpen("keep()").keep(prefix, value)
    },
    async forget(names) {
      requireOpen("forget()").forget(names)
    },
    async trackInjected() {
      requireOpen("trackInjected()").digests.track()
    },
    async snapshot(limit) {
      // The module is loaded in the turn of the snapshot: a cell that comes later must wait.
      return scheduler.runExclusive("snapshot()", async () => {
        lazyModules.snapshot ??= await import("../snapshot.ts")
        return lazyModules.snapshot.takeSnapshot(context, {
          codecs,
          maxBytes: snapshotBytes(options.maxSnapshotBytes, limit),
          since: limit?.since,
          base: snapshotBase,
        })
      })
    },
    async restore(snapshot) {
      return scheduler.replaceNames("restore()", async () => {
        const { loadSnapshot } = await import("../snapshot.ts")
        return loadSnapshot(snapshot, context, { codecs, endCells })
      })
    },
    async fork() {
      const copy = await scheduler.runExclusive("fork()", async () => {
        const { takeLocalCopy } = await import("../snapshot.ts")
        return takeLocalCopy(context, codecs)
      })
      const other = createJsRuntime(namespace.injectedBindings(), options, new Map(loaded))
      if (namespace.digests.isTracking) await other.trackInjected()
      other.notCopied = await other.restore(copy)
      return other
    },
    reset: () =>
      scheduler.replaceNames("reset()", async () => {
        endCells()
        namespace.reset()
      }),
    async close() {
      if (closed) return
      closed = true
      scheduler.close(closedRuntimeError("jsRuntime", "The cell"))
      timers.clear()
      expireUndo()
      stopCapturing?.()
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  return runtime
}

let runtimeCount = 0
