import { AsyncLocalStorage } from "node:async_hooks"
import type { NameChanges } from "../../core/event.ts"
import { thrownMessage } from "../cells/errors.ts"
import { CellStopped, print, type RunningCell, running, type Shared } from "../cells/running-cell.ts"
import type { Lost, OutputChunk } from "../runtime.ts"
import { takeEnvNews } from "../sent-env.ts"
import type { WorkingFolder } from "./folder.ts"
import type { Launch } from "./launch.ts"
import { startLink } from "./link.ts"
import { createLive, type Live } from "./live.ts"
import { loadModule } from "./modules.ts"
import type { FromChild } from "./protocol.ts"
import type { Registry } from "./registry.ts"
import { createService, Forged } from "./service.ts"

/** The host's end of a runtime whose namespace is in a child: starts one when it is needed, and again when it has gone. */
export interface Host {
  /** The child that is there, or a new one with everything that was injected. */
  connect(): Promise<Live>
  /** The child that is there, if there is one. */
  readonly live: Live | undefined
  /** Whether one is there, or about to be. */
  readonly started: boolean
  /** Remembers what a cell did to the names, so that they can be called lost. */
  note(changes: NameChanges): void
  /** From now on, what the child prints and calls for this execution is the cell's. */
  track(execution: number, cell: RunningCell, check: (() => unknown) | undefined): void
  untrack(cell: RunningCell): void
  /** The execution of a cell, or of the nearest one here that it belongs to. */
  executionOf(cell: RunningCell): number | undefined
  /** Makes room for another child where one has ended, and tells what is gone with it. */
  settle(): Promise<Lost[]>
  /** What is gone with children that ended unseen; told once. */
  takeLost(): Lost[]
  /** The names there are, after all of them were replaced. */
  learn(names: readonly string[]): void
  /** Empties the namespace and fills it with what the host has. */
  reset(): Promise<void>
  close(): Promise<void>
}

export function createHost(options: Launch, registry: Registry, shared: Shared): Host {
  const { bounds } = options
  const tracked = new Map<number, Tracked>()
  const made = new Set<string>()
  const reassigned = new Set<string>()
  let starting: Promise<Live> | undefined
  let live: Live | undefined
  const lost: Lost[] = []
  let latest: Tracked | undefined

  const start = async (): Promise<Live> => {
    const link = startLink({
      ...options,
      onMessage: (message) => receive(message, child),
      onStdout: (text) => onPrinted([...tracked.keys()].at(-1), "stdout", text),
    })
    const child = createLive(link, createService(registry, shared, bounds.handles))
    try {
      await child.bind("inject", registry.bindings)
      for (const file of [...registry.modules.keys()]) await reload(file, child)
    } catch (error) {
      link.kill({ kind: "crash", why: "it could not be filled" })
      throw error
    }
    live = child
    return child
  }

  // A module that cannot be loaded any more takes its names with it, and not the whole runtime.
  const reload = async (file: string, child: Live) => {
    const { names = [] } = registry.modules.get(file) ?? {}
    try {
      await loadModule(file, child, registry)
    } catch (error) {
      if (child.link.ending) throw error
      registry.modules.delete(file)
      const reason = `its module cannot be loaded again: ${error instanceof Error ? error.message : error}`
      lost.push(...names.map((name): Lost => ({ name, reason })))
    }
  }

  /** A child that has ended makes room for the next. */
  const forget = async (child: Live) => {
    await child.link.gone
    if (live !== child) return
    live = starting = undefined
    lost.push(...lostWith(child))
    forgetNames()
  }

  const forgetNames = () => {
    made.clear()
    reassigned.clear()
  }

  const lostWith = (child: Live): Lost[] => {
    const gone = [...made].map((name): Lost => ({ name, reason: "it was in the process that ended" }))
    const changed = [...registry.bindings].filter(([name, binding]) => {
      return binding.kind === "variable" && child.used && (reassigned.has(name) || isCopied(binding.value, child))
    })
    const reason = "it is again what the host put in; what cells did to it is gone"
    const files =
      child.used && options.isolation === "os" && options.folder.isTemporary ? [filesOf(options.folder)] : []
    const loaded = child.used ? [...registry.modules.values()].flatMap(({ variables }) => variables) : []
    const again = "it is again what its module gives; what cells did to it is gone"
    return [
      ...gone,
      ...changed.map(([name]): Lost => ({ name, reason, asInjected: true })),
      ...loaded.map((name): Lost => ({ name, reason: again, asInjected: true })),
      ...files,
    ]
  }

  const receive = (message: Exclude<FromChild, { type: "result" }>, child: Live): void => {
    switch (message.type) {
      case "output":
        return onPrinted(message.id, message.stream, message.text)
      case "release":
        for (const [id, count] of message.handles) child.service.handles.release(id, count)
        return
      case "news":
        return takeEnvNews(tracked.get(message.id)?.cell.env ?? {}, message.reads, message.effects)
      case "call":
        void serve(message, child)
    }
  }

  const onPrinted = (execution: number | undefined, stream: OutputChunk["stream"], text: string) => {
    const printing = execution === undefined ? undefined : tracked.get(execution)
    if (!printing) return print(shared, stream, text)
    const { cell } = printing
    if (cell.stopped) return
    printing.printed += Buffer.byteLength(text)
    if (printing.printed <= bounds.outputBytes) return cell.write(stream, text)
    cell.stop(new CellStopped("memory", `The cell was stopped: it printed more than ${bounds.outputBytes} bytes.`))
  }

  const serve = async ({ id, execution, operation }: Extract<FromChild, { type: "call" }>, child: Live) => {
    const { cell, within } = tracked.get(execution) ?? latest ?? {}
    if (!cell || !within) return child.accuse("a call before any cell")
    try {
      const check = operation.op === "check" ? tracked.get(execution)?.check : undefined
      const value = check
        ? { body: (await running.run(cell, async () => check())) !== false }
        : await within(() => child.service.perform(operation, cell))
      child.link.send({ type: "answer", id, ok: true, value })
    } catch (error) {
      if (Forged.is(error)) return child.accuse(error.message)
      fail(id, error, child)
    }
  }

  const fail = (id: number, thrown: unknown, child: Live) => {
    try {
      child.link.send({ type: "answer", id, ok: false, value: child.service.give(thrown, "the error") })
    } catch {
      // What it is, or carries along, cannot cross; what it says can.
      const bare = new Error(thrownMessage(thrown))
      child.link.send({ type: "answer", id, ok: false, value: child.service.give(bare, "the error") })
    }
  }

  const connect = async (): Promise<Live> => {
    if (live?.link.ending) await forget(live)
    // Whoever asks first starts it, but it belongs to nobody's cell.
    starting ??= running.exit(start)
    try {
      return await starting
    } catch (error) {
      starting = undefined
      throw error
    }
  }

  const takeLost = () => lost.splice(0)

  return {
    note({ created, reassigned: again, removed }) {
      for (const name of created) if (!registry.has(name)) made.add(name)
      for (const name of again) if (registry.bindings.has(name)) reassigned.add(name)
      for (const name of removed) made.delete(name)
    },
    get live() {
      return live?.link.ending ? undefined : live
    },
    connect,
    get started() {
      return starting !== undefined && !live?.link.ending
    },
    track(execution, cell, check) {
      latest = { cell, check, printed: 0, within: AsyncLocalStorage.snapshot() }
      tracked.set(execution, latest)
    },
    untrack(cell) {
      for (const [id, printing] of tracked) if (printing.cell === cell) tracked.delete(id)
    },
    executionOf(cell) {
      // It may have been asked for by a cell of another runtime, which one of this runtime has asked for.
      for (let each: RunningCell | undefined = cell; each; each = each.parent) {
        const [execution] = [...tracked].find(([, printing]) => printing.cell === each) ?? []
        if (execution !== undefined) return execution
      }
      return undefined
    },
    async settle() {
      if (live?.link.ending) await forget(live)
      return takeLost()
    },
    takeLost,
    learn(names) {
      forgetNames()
      for (const name of names) if (!registry.has(name)) made.add(name)
    },
    async reset() {
      if (!live || live.link.ending) return
      await live.ask("reset", undefined)
      await live.bind("update", registry.bindings)
      forgetNames()
    },
    async close() {
      const child = await starting?.catch(() => undefined)
      child?.link.kill({ kind: "aborted", why: "its runtime was closed" })
      await child?.link.gone
    },
  }
}

interface Tracked {
  cell: RunningCell
  check: (() => unknown) | undefined
  printed: number
  /** Does something as if the cell were of this process: for whoever asked for the cell, and within all that led there. */
  within: <T>(work: () => T) => T
}

/** What cells had written, where their folder was in the memory of the process. */
function filesOf(folder: WorkingFolder): Lost {
  return {
    name: folder.path(),
    reason: "the files there ended with the process; give the runtime a `cwd` to keep them",
  }
}

/** Whether the child has a copy that cells may have changed, and not the thing itself. */
function isCopied(value: unknown, child: Live): boolean {
  return typeof value === "object" && value !== null && !child.service.handles.has(value)
}
