import { AsyncResource } from "node:async_hooks"
import { AgentError } from "../../core/errors.ts"
import type { NameChanges } from "../../core/event.ts"
import type { Caller } from "../handles/caller.ts"
import { expectList, expectText, ForgedMessage, type WireObject } from "../handles/wire.ts"
import { formatUncaught } from "../js/cell-errors.ts"
import { CellStopped, cellStorage, printForCell, type RunningCell, type SharedCellState } from "../js/running-cell.ts"
import { applyEnvUpdate } from "../remote-env.ts"
import type { CellOutput, RuntimeLoss } from "../runtime.ts"
import type { BindingRegistry } from "./binding-registry.ts"
import { loadModuleInChild } from "./child-modules.ts"
import { maxHints } from "./child-protocol.ts"
import { type ConnectedChild, connectChild } from "./connected-child.ts"
import type { StartPeer } from "./peer-process.ts"
import type { ChildLaunchOptions } from "./process-launch.ts"
import type { WorkingFolder } from "./working-folder.ts"

/** The host's side of a runtime in a child process: starts a child when one is needed and none is running. */
export interface ChildSupervisor {
  /** The running child, or a new one with everything that was injected. */
  connect(): Promise<ConnectedChild>
  /** The running child, if there is one. */
  readonly runningChild: ConnectedChild | undefined
  /** Whether a child is running or being started. */
  readonly isStarted: boolean
  /** Remembers the names that a cell created or removed, so that they can be reported as lost when the child ends. */
  recordNameChanges(changes: NameChanges): void
  /** Returns the id of a new execution. Output and calls of the child with this id belong to the cell. */
  beginExecution(child: ConnectedChild, cell: RunningCell, check: (() => unknown) | undefined): string
  endExecutions(cell: RunningCell): void
  /** The execution of a cell, or of the nearest cell of this runtime that started it. */
  executionOf(cell: RunningCell): string | undefined
  /** After a child has ended: prepares for the next one and returns what was lost. */
  forgetEndedChild(): Promise<RuntimeLoss[]>
  /** What was lost with children that ended between cells. Each loss is returned once. */
  takeLost(): RuntimeLoss[]
  /** Replaces the known names, after a snapshot was loaded. */
  replaceKnownNames(names: readonly string[]): void
  /** Empties the namespace and fills it with what the host has. */
  reset(): Promise<void>
  close(): Promise<void>
}

export function createChildSupervisor(
  options: ChildLaunchOptions,
  registry: BindingRegistry,
  shared: SharedCellState,
  startPeer: StartPeer,
): ChildSupervisor {
  const { bounds } = options
  const tracked = new Map<string, TrackedExecution>()
  const made = new Set<string>()
  const reassigned = new Set<string>()
  let starting: Promise<ConnectedChild> | undefined
  let live: ConnectedChild | undefined
  const lost: RuntimeLoss[] = []

  const start = async (): Promise<ConnectedChild> => {
    const peer = startPeer(options, {
      onStdout: (text) => onPrinted([...tracked.keys()].at(-1), "stdout", text),
      onEnding: ({ why }) => child.connection.end(why),
    })
    const child = connectChild(peer, {
      access: registry.access,
      maxHandles: bounds.handles,
      onMessage: receive,
      onUnawaitedFailure: printLate,
    })
    try {
      await fill(child)
      for (const file of [...registry.modules.keys()]) await reload(file, child)
    } catch (error) {
      peer.kill({ kind: "crash", why: "it could not be filled" })
      throw error
    }
    live = child
    return child
  }

  /** Gives a new child what was injected. Objects of a child that has ended are lost; the rest is bound. */
  const fill = async (child: ConnectedChild) => {
    try {
      return await child.bind("inject", registry.bindings)
    } catch (error) {
      if (!isGoneError(error)) throw error
    }
    for (const entry of [...registry.bindings]) {
      try {
        await child.bind("inject", [entry])
      } catch (error) {
        if (!isGoneError(error)) throw error
        registry.remove(entry[0])
        lost.push({ name: entry[0], reason: "it was an object of the process that has ended" })
      }
    }
  }

  // When a module cannot be loaded again, only its names are lost.
  const reload = async (file: string, child: ConnectedChild) => {
    const { names = [] } = registry.modules.get(file) ?? {}
    try {
      await loadModuleInChild(file, child, registry)
    } catch (error) {
      if (child.process.ending) throw error
      registry.modules.delete(file)
      const reason = `its module cannot be loaded again: ${error instanceof Error ? error.message : error}`
      lost.push(...names.map((name): RuntimeLoss => ({ name, reason })))
    }
  }

  /** Forgets a child that has ended, so that the next use starts another. */
  const forget = async (child: ConnectedChild) => {
    await child.process.gone
    if (live !== child) return
    live = starting = undefined
    lost.push(...lostWith(child))
    forgetNames()
  }

  const forgetNames = () => {
    made.clear()
    reassigned.clear()
  }

  const lostWith = (child: ConnectedChild): RuntimeLoss[] => {
    const gone = [...made].map((name): RuntimeLoss => ({ name, reason: "it was in the process that ended" }))
    const changed = [...registry.bindings].filter(([name, binding]) => {
      return binding.kind === "variable" && child.used && (reassigned.has(name) || isCopied(binding.value, child))
    })
    const reason = "it is again what the host put in; what cells did to it is gone"
    const files =
      child.used && options.isolation === "os" && options.folder.isTemporary ? [lostFiles(options.folder)] : []
    const loaded = child.used ? [...registry.modules.values()].flatMap(({ variables }) => variables) : []
    const again = "it is again what its module gives; what cells did to it is gone"
    return [
      ...gone,
      ...changed.map(([name]): RuntimeLoss => ({ name, reason, asInjected: true })),
      ...loaded.map((name): RuntimeLoss => ({ name, reason: again, asInjected: true })),
      ...files,
    ]
  }

  const receive = (message: WireObject, _frame: unknown, child: ConnectedChild): void => {
    switch (message.k) {
      case "out": {
        const stream = message.s === "stderr" ? "stderr" : "stdout"
        return onPrinted(expectText(message.x), stream, expectText(message.t))
      }
      case "news": {
        const { cell } = tracked.get(expectText(message.x)) ?? {}
        return applyEnvUpdate(
          cell?.env ?? {},
          expectList(message.reads).map(expectFinite),
          expectList(message.effects).map(expectText),
        )
      }
      case "check":
        void decide(Number(message.i), expectText(message.x), child)
        return
      default:
        throw new ForgedMessage("a message of an unknown kind")
    }
  }

  /** Answers whether a transaction may be kept. */
  const decide = async (i: number, execution: string, child: ConnectedChild) => {
    const { cell, check } = tracked.get(execution) ?? {}
    if (!cell || !check) return void child.killForViolation("a check of no transaction")
    try {
      child.connection.send({ k: "reply", i, v: (await cellStorage.run(cell, async () => check())) !== false })
    } catch (error) {
      child.connection.fail(i, error)
    }
  }

  const printLate = (error: unknown) => printForCell(shared, "stderr", `${formatUncaught(error)}\n`)

  const onPrinted = (execution: string | undefined, stream: CellOutput["stream"], text: string) => {
    const printing = execution === undefined ? undefined : tracked.get(execution)
    if (!printing) return printForCell(shared, stream, text)
    const { cell } = printing
    if (cell.stopped) return
    printing.printed += Buffer.byteLength(text)
    if (printing.printed <= bounds.outputBytes) return cell.write(stream, text)
    cell.stop(new CellStopped("memory", `The cell was stopped: it printed more than ${bounds.outputBytes} bytes.`))
  }

  const connect = async (): Promise<ConnectedChild> => {
    if (live?.process.ending) await forget(live)
    // The child outlives the cell that happens to start it, so it is started outside of every cell.
    starting ??= cellStorage.exit(start)
    try {
      return await starting
    } catch (error) {
      starting = undefined
      throw error
    }
  }

  const takeLost = () => lost.splice(0)

  return {
    recordNameChanges({ created, reassigned: again, removed }) {
      for (const name of created) if (!registry.has(name)) made.add(name)
      for (const name of again) if (registry.bindings.has(name)) reassigned.add(name)
      for (const name of removed) made.delete(name)
    },
    get runningChild() {
      return live?.process.ending ? undefined : live
    },
    connect,
    get isStarted() {
      return starting !== undefined && !live?.process.ending
    },
    beginExecution(child, cell, check) {
      const execution = child.connection.beginExecution(callerFor(cell, registry.nameOf, printLate))
      tracked.set(execution, { cell, check, printed: 0 })
      return execution
    },
    endExecutions(cell) {
      for (const [id, printing] of tracked) if (printing.cell === cell) tracked.delete(id)
    },
    executionOf(cell) {
      // The cell may have been started by a cell of another runtime, which was started by one of this runtime.
      for (let each: RunningCell | undefined = cell; each; each = each.parent) {
        const [execution] = [...tracked].find(([, printing]) => printing.cell === each) ?? []
        if (execution !== undefined) return execution
      }
      return undefined
    },
    async forgetEndedChild() {
      if (live?.process.ending) await forget(live)
      return takeLost()
    },
    takeLost,
    replaceKnownNames(names) {
      forgetNames()
      for (const name of names) if (!registry.has(name)) made.add(name)
    },
    async reset() {
      if (!live || live.process.ending) return
      await live.ask("reset")
      await live.bind("update", registry.bindings)
      forgetNames()
    },
    async close() {
      const child = await starting?.catch(() => undefined)
      child?.process.kill({ kind: "aborted", why: "its runtime was closed" })
      await child?.process.gone
    },
  }
}

function isGoneError(error: unknown): boolean {
  return error instanceof AgentError && error.code === "gone"
}

interface TrackedExecution {
  cell: RunningCell
  check: (() => unknown) | undefined
  printed: number
}

/** The cell as the caller of host code. Its calls run in the asynchronous context of whoever executed the cell. */
function callerFor(cell: RunningCell, nameOf: Caller["nameOf"], printLate: (error: unknown) => void): Caller {
  // Cheaper than `AsyncLocalStorage.snapshot()`, and this is done for every cell.
  const context = new AsyncResource("KarstCell", { requireManualDestroy: true })
  return {
    gate: cell.gate,
    nameOf,
    get signal() {
      return cell.signal
    },
    throwIfStopped: () => cell.throwIfStopped(),
    runInContext: (work) => context.runInAsyncScope(() => cellStorage.run(cell, work)),
    waitFor(work) {
      const settle = () => void cell.openCalls.delete(work)
      cell.openCalls.add(work)
      work.then(settle, settle)
    },
    fail(error) {
      if (cell.hasEnded) return printLate(error)
      cell.endChecks.push(() => {
        throw error
      })
    },
    hint(text) {
      if (!cell.hasEnded && cell.hints.length < maxHints && !cell.hints.includes(text)) cell.hints.push(text)
    },
  }
}

function expectFinite(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new ForgedMessage("an invalid time")
  return value
}

/** Reports the files that cells had written, where their folder was in memory and ended with the process. */
function lostFiles(folder: WorkingFolder): RuntimeLoss {
  return {
    name: folder.path(),
    reason: "the files there ended with the process; give the runtime a `cwd` to keep them",
  }
}

/** Whether the child has a copy of the value, which cells may have changed. */
function isCopied(value: unknown, child: ConnectedChild): boolean {
  return typeof value === "object" && value !== null && !child.connection.objects.has(value)
}
