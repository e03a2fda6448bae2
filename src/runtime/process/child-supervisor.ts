// Starts a child when one is needed, fills it with the injected bindings, and reports what is lost when it ends.
import { AgentError, ConfigError } from "../../core/errors.ts"
import type { NameChanges } from "../../core/event.ts"
import { expectList, expectText, expectTime, ForgedMessage, type WireObject } from "../handles/wire.ts"
import { formatUncaught } from "../js/cell-errors.ts"
import { CellStopped, cellStorage, printForCell, type RunningCell, type SharedCellState } from "../js/running-cell.ts"
import { applyEnvUpdate } from "../remote-env.ts"
import type { CellOutput, RuntimeLoss } from "../runtime.ts"
import type { BindingRegistry } from "./binding-registry.ts"
import { callerFor } from "./cell-caller.ts"
import { loadModuleInChild } from "./child-modules.ts"
import { type ConnectedChild, connectChild } from "./connected-child.ts"
import type { StartPeer } from "./peer-process.ts"
import type { ChildLaunchOptions } from "./process-launch.ts"
import type { WorkingFolder } from "./working-folder.ts"

export interface ChildSupervisor {
  /** Returns the running child, or starts one and injects all bindings. */
  connect(): Promise<ConnectedChild>
  /** Undefined if no child is running. */
  readonly runningChild: ConnectedChild | undefined
  /** True if a child is running or being started. */
  readonly isStarted: boolean
  /** Records the names that a cell created or removed, so that they can be reported as lost when the child ends. */
  recordNameChanges(changes: NameChanges): void
  /** Returns the id of a new execution. The child's output and calls with this id belong to the cell. */
  beginExecution(child: ConnectedChild, cell: RunningCell, check: (() => unknown) | undefined): string
  endExecutions(cell: RunningCell): void
  /** Returns the execution of a cell, or of the nearest ancestor cell that runs in this runtime. */
  executionOf(cell: RunningCell): string | undefined
  /** If the child has ended, forgets it, so that the next use starts another. Returns and clears the losses. */
  forgetEndedChild(): Promise<RuntimeLoss[]>
  /** Returns and clears the losses of children that ended between cells. */
  takeLost(): RuntimeLoss[]
  /** Replaces the known names, after a snapshot was loaded. */
  replaceKnownNames(names: readonly string[]): void
  /** Clears the namespace and injects the bindings again. */
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
  const createdNames = new Set<string>()
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

  /** Injects all bindings into a new child. Objects that lived in an ended child are reported as lost. */
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

  // If a module cannot be loaded again, only its names are lost.
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

  const forget = async (child: ConnectedChild) => {
    await child.process.gone
    if (live !== child) return
    live = starting = undefined
    lost.push(...lostWith(child))
    forgetNames()
  }

  const forgetNames = () => {
    createdNames.clear()
    reassigned.clear()
  }

  const lostWith = (child: ConnectedChild): RuntimeLoss[] => {
    const lostNames = [...createdNames].map(
      (name): RuntimeLoss => ({ name, reason: "it was in the process that ended" }),
    )
    const changed = [...registry.bindings].filter(([name, binding]) => {
      return binding.kind === "variable" && child.used && (reassigned.has(name) || isCopied(binding.value, child))
    })
    const reason = "it is again what the host put in; what cells did to it is gone"
    const files =
      child.used && options.isolation === "os" && options.folder.isTemporary ? [lostFiles(options.folder)] : []
    const loaded = child.used ? [...registry.modules.values()].flatMap(({ variables }) => variables) : []
    const again = "it is again what its module gives; what cells did to it is gone"
    return [
      ...lostNames,
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
          expectList(message.reads).map(expectTime),
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

  /** Answers whether to commit a transaction. */
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

  const onPrinted = (id: string | undefined, stream: CellOutput["stream"], text: string) => {
    const execution = id === undefined ? undefined : tracked.get(id)
    if (!execution) return printForCell(shared, stream, text)
    const { cell } = execution
    if (cell.stopped) return
    execution.printed += Buffer.byteLength(text)
    if (execution.printed <= bounds.outputBytes) return cell.write(stream, text)
    cell.stop(new CellStopped("memory", `The cell was stopped: it printed more than ${bounds.outputBytes} bytes.`))
  }

  const connect = async (): Promise<ConnectedChild> => {
    if (live?.process.ending) await forget(live)
    // The child outlives the cell that starts it, so it is started outside any cell's context.
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
      for (const name of created) if (!registry.has(name)) createdNames.add(name)
      for (const name of again) if (registry.bindings.has(name)) reassigned.add(name)
      for (const name of removed) createdNames.delete(name)
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
      for (const [id, execution] of tracked) if (execution.cell === cell) tracked.delete(id)
    },
    executionOf(cell) {
      // A cell of another runtime, itself started by a cell of this one, may have started the cell.
      for (let each: RunningCell | undefined = cell; each; each = each.parent) {
        const [id] = [...tracked].find(([, execution]) => execution.cell === each) ?? []
        if (id !== undefined) return id
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
      for (const name of names) if (!registry.has(name)) createdNames.add(name)
    },
    async reset() {
      const child = live
      if (!child || child.process.ending) return
      try {
        await child.ask("reset")
        await child.bind("update", registry.bindings)
      } catch (error) {
        if (error instanceof ConfigError) throw error
        // A cell may have replaced functions of the platform. The next use starts another child.
        child.process.kill({ kind: "crash", why: "it could not be reset" })
        const before = lost.length
        await forget(child)
        // A reset takes the names anyway. Files are lost only because the process ended.
        lost.push(...lost.splice(before).filter(({ name }) => name === options.folder.path()))
      }
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

/** Reports the files that cells wrote to a folder in memory, which ended with the process. */
function lostFiles(folder: WorkingFolder): RuntimeLoss {
  return {
    name: folder.path(),
    reason: "the files there ended with the process; give the runtime a `cwd` to keep them",
  }
}

/** Returns true if the child has a copy of the value, which cells may have changed. */
function isCopied(value: unknown, child: ConnectedChild): boolean {
  return typeof value === "object" && value !== null && !child.connection.objects.has(value)
}
