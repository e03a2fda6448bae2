// Starts Jupyter kernels one after another, binds the host's values in each, and runs cells in the current one.
import { AsyncLocalStorage } from "node:async_hooks"
import { AgentError, ConfigError } from "../../../core/errors.ts"
import { injectedObjectPath } from "../../bindings/injected-object-path.ts"
import type { UsedObjects } from "../../bindings/used-objects.ts"
import { type Binding, boundValue } from "../../bindings.ts"
import { finishName, finishNameProblem } from "../../finish-text.ts"
import { createHostAccess } from "../../handles/host-access.ts"
import { formatUncaught } from "../../js/cell-errors.ts"
import { notStartedExecution } from "../../js/execute-cell.ts"
import type { CellExecution, CellOptions, RuntimeLoss } from "../../runtime.ts"
import type { Codecs } from "../../snapshot/codec.ts"
import { convertToOldType } from "../convert-to-old-type.ts"
import { describeBinding } from "../describe-python.ts"
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

export interface KernelSupervisor {
  /** The injected values by name. */
  readonly bindings: Map<string, Binding>
  /** The host objects that cells have used. */
  readonly usedObjects: UsedObjects
  readonly codecs: Codecs
  readonly knownNames: KnownNames
  /** The kernel's temporary folder; undefined if no kernel runs. */
  readonly folder: string | undefined
  /** The running cell. */
  readonly cell: PythonCell | undefined
  /** Runs a cell. Starts a kernel if none runs. */
  /** `keepName`: the name under which the value is kept if it is shown in part. */
  execute(code: string, options: CellOptions, keepName?: string): Promise<CellExecution>
  /** Starts a kernel if none runs. */
  ensureStarted(): Promise<void>
  /** Sends a request to the kernel. Starts one if none runs. */
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** Assigns the values to their names in the kernel. */
  bind(values: ReadonlyMap<string, Binding>): Promise<void>
  /** Runs a module file in this kernel and in each later one. Returns the names it exports. */
  loadFile(file: string): Promise<string[]>
  readonly loadedFiles: Iterable<string>
  /** Ends the kernel; the next use starts another. */
  endKernel(): Promise<void>
  /** Ends the kernel. No other one can be started. */
  close(): Promise<void>
}

export function createKernelSupervisor({ launch, limits, setup, codecs }: SupervisorOptions): KernelSupervisor {
  const bindings = new Map<string, Binding>()
  const knownNames = createKnownNames(bindings)
  const loaded = new Map<string, string[]>()
  const { access, registerBinding } = createHostAccess(
    {
      missingError: (title) => new AttributeError(`${title} does not exist on the host`),
      convertToOldType: (value, old) =>
        (typeof value === "object" && value !== null) || typeof value === "number"
          ? convertToOldType(value, old())
          : value,
      wrapCall: (owner, call) => passingTablesToKernel.run(isPythonAgent(owner), call),
      declare: (name) => describeBinding(name, supervisor),
    },
    codecs,
  )
  const lateOutput = createLateOutput()
  let current: RunningKernel | undefined
  let starting: Promise<RunningKernel> | undefined
  let cell: PythonCell | undefined
  let count = 0
  let closed = false
  // Names lost because a kernel died between two cells; the next cell reports them.
  let unreportedLosses: RuntimeLoss[] = []

  const events: KernelEvents = {
    onOutput(chunk) {
      if (cell && !cell.isOver) return cell.write(chunk)
      lateOutput.add(chunk)
    },
    onReport: (report, caller) => cellOf(caller)?.receiveReport(report),
    onEnvUpdate: (reads, effects, caller) => cellOf(caller)?.recordEnvUpdate(reads, effects),
    registerHostError: (error) => cell?.registerHostError(error) ?? -1,
    onUnawaitedFailure: (error) => lateOutput.add({ stream: "stderr", text: `${formatUncaught(error)}\n` }),
  }
  const nameOf = (value: object) => access.functions.findBinding(value)?.name ?? injectedObjectPath(value, bindings)
  const createCell = (
    kernel: RunningKernel,
    number: number,
    options: CellOptions,
    forgetNames: KnownNames["forgetAll"],
    keepName?: string,
  ) =>
    createPythonCell({ owner: supervisor, number, kernel, limits, options, lateOutput, forgetNames, nameOf, keepName })

  /** The running cell if it is the given caller; undefined otherwise. */
  const cellOf = (caller: PythonCell["caller"]) => (cell?.caller === caller ? cell : undefined)

  /** Records a name that could not be bound in a new kernel. */
  const reportLost = (name: string, reason: string) => {
    unreportedLosses = [...unreportedLosses.filter((each) => each.name !== name), { name, reason }]
  }

  const bind = async (kernel: RunningKernel, values: ReadonlyMap<string, Binding>) => {
    if (values.size === 0) return
    // Register guards before the kernel can use the values.
    for (const [name, binding] of values) registerBinding(name, binding)
    try {
      const sent: [string, unknown][] = []
      for (const [name, binding] of values) {
        sent.push([name, await kernel.bridge.importTable(valueFor(name, binding))])
      }
      await kernel.bridge.ask("bind", { values: Object.fromEntries(sent) })
    } catch (error) {
      for (const name of values.keys()) {
        const before = bindings.get(name)
        if (before) registerBinding(name, before)
      }
      throw error
    }
    await knownNames.markInjected([...values.keys()], kernel.bridge)
  }

  const setUpKernel = async (kernel: RunningKernel) => {
    knownNames.setup.clear()
    const code = typeof setup === "object" ? await readSetupFile(setup.file) : setup
    if (code !== undefined) {
      cell = createCell(kernel, 0, {}, () => [])
      const execution = await cell.run(code)
      if (!execution.ok) {
        throw new ConfigError(`The setup code failed: ${execution.error.stack ?? execution.error.message}`)
      }
      const { created } = execution.changes
      if (created.includes(finishName)) throw new ConfigError(`The setup code: "${finishName}" ${finishNameProblem}.`)
      await addSetupNames(kernel, created)
    }
    for (const file of [...loaded.keys()]) await reloadInto(kernel, file)
    try {
      await bind(kernel, bindings)
    } catch (error) {
      if (!isGone(error)) throw error
      await bindRemaining(kernel)
    }
  }

  const loadInto = async (kernel: RunningKernel, file: string): Promise<string[]> => {
    const names = await loadPythonModule(file, kernel.bridge)
    loaded.set(file, names)
    await addSetupNames(kernel, names)
    return names
  }

  const addSetupNames = async (kernel: RunningKernel, names: readonly string[]) => {
    for (const name of names) knownNames.setup.add(name)
    await knownNames.markInjected(names, kernel.bridge)
  }

  // If a module cannot be loaded again, its names are lost, but the runtime continues.
  const reloadInto = async (kernel: RunningKernel, file: string) => {
    const before = loaded.get(file) ?? []
    try {
      await loadInto(kernel, file)
    } catch (error) {
      if (kernel.exitReason !== undefined) throw error
      loaded.delete(file)
      const reason = `its module cannot be loaded again: ${error instanceof Error ? error.message : error}`
      for (const name of before) reportLost(name, reason)
    }
  }

  // Some bindings are objects of the ended kernel, which are lost. Bind the others.
  const bindRemaining = async (kernel: RunningKernel) => {
    for (const [name, binding] of [...bindings]) {
      try {
        await bind(kernel, new Map([[name, binding]]))
      } catch (error) {
        if (!isGone(error)) throw error
        bindings.delete(name)
        reportLost(name, "it was an object of the kernel that has ended")
      }
    }
  }

  const start = async (): Promise<RunningKernel> => {
    if (current) {
      unreportedLosses = knownNames.forgetAll(`the kernel died: ${current.exitReason}`)
      await current.end()
      current = undefined
    }
    const kernel = await outsideAnyCell(() => startKernel(launch, access, events))
    try {
      await setUpKernel(kernel)
    } catch (error) {
      await kernel.end()
      throw error
    }
    current = kernel
    // The limits also apply between cells, for example to threads.
    const { memoryMb, processes } = limits
    const unwatch = watchResourceUse({ pid: kernel.pid, memoryMb, processes, everyMs: 1000 }, (_kind, why) => {
      if (!supervisor.cell) kernel.kill(`${why} while no cell ran`)
    })
    void kernel.exited.then(unwatch)
    return kernel
  }

  const ensureKernel = async (): Promise<RunningKernel> => {
    if (closed) throw new AgentError("This pythonRuntime was closed before it could start.", { code: "closed" })
    if (current && current.exitReason === undefined) return current
    starting ??= start().finally(() => {
      starting = undefined
    })
    return starting
  }

  /** The value to send for a binding. A function is sent as its gated version, so that calls pass the call gate. */
  const valueFor = (name: string, binding: Binding): unknown =>
    binding.kind === "function" ? access.functions.find(name)?.gated : boundValue(binding)

  const supervisor: KernelSupervisor = {
    bindings,
    usedObjects: access.usedObjects,
    codecs,
    knownNames,
    get folder() {
      return current?.folder
    },
    get cell() {
      return cell?.isOver ? undefined : cell
    },
    async execute(code, options, keepName) {
      const kernel = await ensureKernel()
      if (options.signal?.aborted) return notStartedExecution("The cell was aborted before it began.")
      if (closed || kernel.exitReason !== undefined)
        return notStartedExecution("The cell was aborted: its runtime was closed.")
      const before = unreportedLosses.splice(0)
      const next = createCell(kernel, ++count, options, knownNames.forgetAll, keepName)
      cell = next
      knownNames.noteCellCode(code)
      const execution = await next.run(code)
      knownNames.recordChanges(execution.changes)
      if (execution.ok && execution.kept !== undefined) knownNames.all.add(execution.kept)
      const lost = [...before, ...(execution.lost ?? [])]
      const used = access.usedObjects.takeNames(bindings)
      const changes = used.length > 0 ? { ...execution.changes, used } : execution.changes
      return { ...execution, changes, ...(lost.length > 0 && { lost }) }
    },
    async ensureStarted() {
      await ensureKernel()
    },
    async ask(op, body) {
      const { bridge } = await ensureKernel()
      return bridge.ask(op, body)
    },
    async bind(values) {
      await bind(await ensureKernel(), values)
    },
    loadFile: async (file) => loaded.get(file) ?? loadInto(await ensureKernel(), file),
    get loadedFiles() {
      return loaded.keys()
    },
    async close() {
      closed = true
      await supervisor.endKernel()
    },
    async endKernel() {
      await starting?.catch(() => undefined)
      const ending = current
      current = undefined
      knownNames.forgetAll("")
      unreportedLosses = []
      lateOutput.drain()
      // Invalidate the functions that earlier cells received.
      access.functions.reset()
      await ending?.end()
    },
  }
  return supervisor
}

function isGone(error: unknown): boolean {
  return error instanceof AgentError && error.code === "gone"
}

// Runs code outside the async context of any cell: a kernel outlives the cell in which it is first used.
const outsideAnyCell = AsyncLocalStorage.snapshot()
