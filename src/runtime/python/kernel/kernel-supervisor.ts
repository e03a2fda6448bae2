import { AsyncLocalStorage } from "node:async_hooks"
import { AgentError, ConfigError } from "../../../core/errors.ts"
import { injectedObjectPath } from "../../bindings/injected-object-path.ts"
import type { UsedObjects } from "../../bindings/used-objects.ts"
import { type Binding, boundValue } from "../../bindings.ts"
import { createHostAccess } from "../../handles/host-access.ts"
import { formatUncaught } from "../../js/cell-errors.ts"
import { notStartedExecution } from "../../js/execute-cell.ts"
import type { CellExecution, CellOptions, RuntimeLoss } from "../../runtime.ts"
import type { Codecs } from "../../snapshot/codec.ts"
import { convertToOldType } from "../convert-to-old-type.ts"
import { createLateOutput } from "../late-output.ts"
import { loadPythonModule } from "../load-python-module.ts"
import { type CellLimits, createPythonCell, type PythonCell } from "../python-cell.ts"
import { isPythonAgent, passingTablesToKernel } from "../tables/table-transfer.ts"
import { AttributeError } from "./kernel-bridge.ts"
import type { LaunchOptions } from "./kernel-launch.ts"
import { createKnownNames, type KnownNames } from "./known-names.ts"
import { watchResourceUse } from "./resource-watch.ts"
import { type KernelEvents, type RunningKernel, startKernel } from "./running-kernel.ts"
import { readSetupFile } from "./setup-file.ts"

export interface SupervisorOptions {
  launch: LaunchOptions
  limits: CellLimits
  setup?: string | { file: string } | undefined
  codecs: Codecs
}

/** One kernel after another, each with what the host has bound. */
export interface KernelSupervisor {
  /** What the host has bound, by name. */
  readonly bindings: Map<string, Binding>
  /** The host objects that cells have used. */
  readonly usedObjects: UsedObjects
  readonly codecs: Codecs
  readonly known: KnownNames
  readonly started: boolean
  /** The kernel's own folder; undefined while there is none. */
  readonly folder: string | undefined
  /** The cell that runs now. */
  readonly cell: PythonCell | undefined
  /** Runs a cell; the kernel is started when there is none. */
  execute(code: string, options: CellOptions): Promise<CellExecution>
  /** Starts the kernel when there is none. */
  ensureStarted(): Promise<void>
  /** Asks the kernel, which is started when there is none. */
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** Gives names their values in the kernel. */
  bind(values: ReadonlyMap<string, Binding>): Promise<void>
  /** Runs a module file in this kernel and in those to come; gives the names it exports. */
  loadFile(file: string): Promise<string[]>
  /** The files that were loaded. */
  readonly loadedFiles: Iterable<string>
  /** Ends the kernel; the next use starts another. */
  endKernel(): Promise<void>
  /** Ends it for good: there is no next one. */
  close(): Promise<void>
}

export function createKernelSupervisor({ launch, limits, setup, codecs }: SupervisorOptions): KernelSupervisor {
  const bindings = new Map<string, Binding>()
  const known = createKnownNames(bindings)
  const loaded = new Map<string, string[]>()
  const { access, registerBinding: permit } = createHostAccess(
    {
      missing: (title) => new AttributeError(`${title} does not exist on the host`),
      fit: (value, old) =>
        (typeof value === "object" && value !== null) || typeof value === "number"
          ? convertToOldType(value, old())
          : value,
      around: (owner, call) => passingTablesToKernel.run(isPythonAgent(owner), call),
    },
    codecs,
  )
  const late = createLateOutput()
  let live: RunningKernel | undefined
  let starting: Promise<RunningKernel> | undefined
  let cell: PythonCell | undefined
  let count = 0
  let closed = false
  // Of kernels that died between two cells: the next cell tells.
  let untold: RuntimeLoss[] = []

  const events: KernelEvents = {
    onOutput(chunk) {
      if (cell && !cell.isOver) return cell.write(chunk)
      late.add(chunk)
    },
    onReport: (report, caller) => ofCell(caller)?.receiveReport(report),
    onEnvUpdate: (reads, effects, caller) => ofCell(caller)?.takeEnvUpdate(reads, effects),
    registerHostError: (error) => cell?.registerHostError(error) ?? -1,
    onForgottenFailure: (error) => late.add({ stream: "stderr", text: `${formatUncaught(error)}\n` }),
  }
  const nameOf = (value: object) => access.functions.boundBy(value)?.name ?? injectedObjectPath(value, bindings)
  /** The running cell, where it is the one that a message speaks for. */
  const ofCell = (caller: PythonCell["caller"]) => (cell?.caller === caller ? cell : undefined)

  /** Tells of a name that a kernel could not be given again. */
  const miss = (name: string, reason: string) => {
    untold = [...untold.filter((each) => each.name !== name), { name, reason }]
  }

  const bind = async (kernel: RunningKernel, values: ReadonlyMap<string, Binding>) => {
    if (values.size === 0) return
    // Guards hold before the kernel has the values.
    for (const [name, binding] of values) permit(name, binding)
    try {
      const given: [string, unknown][] = []
      for (const [name, binding] of values)
        given.push([name, await kernel.bridge.importTable(forPython(name, binding))])
      await kernel.bridge.ask("bind", { values: Object.fromEntries(given) })
    } catch (error) {
      for (const name of values.keys()) {
        const before = bindings.get(name)
        if (before) permit(name, before)
      }
      throw error
    }
    await known.markInjected([...values.keys()], kernel.bridge)
  }

  const prepare = async (kernel: RunningKernel) => {
    known.setup.clear()
    const code = typeof setup === "object" ? await readSetupFile(setup.file) : setup
    if (code !== undefined) {
      cell = createPythonCell({
        runtime: session,
        number: 0,
        kernel: kernel,
        limits,
        options: {},
        lateOutput: late,
        forgetNames: () => [],
        nameOf,
      })
      const execution = await cell.run(code)
      if (!execution.ok) {
        throw new ConfigError(`The setup code failed: ${execution.error.stack ?? execution.error.message}`)
      }
      await putSetup(kernel, execution.changes.created)
    }
    for (const file of [...loaded.keys()]) await reload(kernel, file)
    try {
      await bind(kernel, bindings)
    } catch (error) {
      if (!isGone(error)) throw error
      await bindOneByOne(kernel)
    }
  }

  const load = async (kernel: RunningKernel, file: string): Promise<string[]> => {
    const made = await loadPythonModule(file, kernel.bridge)
    loaded.set(file, made)
    await putSetup(kernel, made)
    return made
  }

  const putSetup = async (kernel: RunningKernel, made: readonly string[]) => {
    for (const name of made) known.setup.add(name)
    await known.markInjected(made, kernel.bridge)
  }

  // A module that cannot be loaded any more takes its names with it, and not the whole runtime.
  const reload = async (kernel: RunningKernel, file: string) => {
    const before = loaded.get(file) ?? []
    try {
      await load(kernel, file)
    } catch (error) {
      if (kernel.exitReason !== undefined) throw error
      loaded.delete(file)
      const reason = `its module cannot be loaded again: ${error instanceof Error ? error.message : error}`
      for (const name of before) miss(name, reason)
    }
  }

  // Some of what was bound are objects of a kernel that has ended: they are lost, and the rest is bound.
  const bindOneByOne = async (kernel: RunningKernel) => {
    for (const [name, binding] of [...bindings]) {
      try {
        await bind(kernel, new Map([[name, binding]]))
      } catch (error) {
        if (!isGone(error)) throw error
        bindings.delete(name)
        miss(name, "it was an object of the kernel that has ended")
      }
    }
  }

  const start = async (): Promise<RunningKernel> => {
    if (live) {
      untold = known.forgetAll(`the kernel died: ${live.exitReason}`)
      await live.end()
      live = undefined
    }
    const kernel = await outsideAnyCell(() => startKernel(launch, access, events))
    try {
      await prepare(kernel)
    } catch (error) {
      await kernel.end()
      throw error
    }
    live = kernel
    // What runs on between cells, threads for example, has the same limits.
    const { memoryMb, processes } = limits
    const unwatch = watchResourceUse({ pid: kernel.pid, memoryMb, processes, everyMs: 1000 }, (_kind, why) => {
      if (!session.cell) kernel.kill(`${why} while no cell ran`)
    })
    void kernel.exited.then(unwatch)
    return kernel
  }

  const ensure = async (): Promise<RunningKernel> => {
    if (closed) throw new AgentError("This pythonRuntime was closed before it could start.", { code: "closed" })
    if (live && live.exitReason === undefined) return live
    starting ??= start().finally(() => {
      starting = undefined
    })
    return starting
  }

  /** What is sent for a binding: a function as the gated one, so that calls pass the gate, anything else as its value. */
  const forPython = (name: string, binding: Binding): unknown =>
    binding.kind === "function" ? access.functions.find(name)?.gated : boundValue(binding)

  const session: KernelSupervisor = {
    bindings,
    usedObjects: access.used,
    codecs,
    known,
    get folder() {
      return live?.folder
    },
    get started() {
      return live !== undefined
    },
    get cell() {
      return cell?.isOver ? undefined : cell
    },
    async execute(code, options) {
      const kernel = await ensure()
      if (options.signal?.aborted) return notStartedExecution("The cell was aborted before it began.")
      if (closed || kernel.exitReason !== undefined)
        return notStartedExecution("The cell was aborted: its runtime was closed.")
      const before = untold.splice(0)
      const current = createPythonCell({
        runtime: session,
        number: ++count,
        kernel: kernel,
        limits,
        options,
        lateOutput: late,
        forgetNames: known.forgetAll,
        nameOf,
      })
      cell = current
      known.noteCellCode(code)
      const execution = await current.run(code)
      known.recordChanges(execution.changes)
      const lost = [...before, ...(execution.lost ?? [])]
      const used = access.used.takeNames(bindings)
      const changes = used.length > 0 ? { ...execution.changes, used } : execution.changes
      return { ...execution, changes, ...(lost.length > 0 && { lost }) }
    },
    async ensureStarted() {
      await ensure()
    },
    async ask(op, body) {
      const { bridge } = await ensure()
      return bridge.ask(op, body)
    },
    async bind(values) {
      await bind(await ensure(), values)
    },
    loadFile: async (file) => loaded.get(file) ?? load(await ensure(), file),
    get loadedFiles() {
      return loaded.keys()
    },
    async close() {
      closed = true
      await session.endKernel()
    },
    async endKernel() {
      await starting?.catch(() => undefined)
      const ending = live
      live = undefined
      known.forgetAll("")
      untold = []
      late.drain()
      // Functions that cells passed on before lead nowhere.
      access.functions.reset()
      await ending?.end()
    },
  }
  return session
}

function isGone(error: unknown): boolean {
  return error instanceof AgentError && error.code === "gone"
}

// A kernel belongs to no cell, even when the first use of it is in one.
const outsideAnyCell = AsyncLocalStorage.snapshot()
