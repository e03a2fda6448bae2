import { AsyncLocalStorage } from "node:async_hooks"
import { AgentError, ConfigError } from "../../core/errors.ts"
import { type Binding, boundValue } from "../bindings.ts"
import { uncaughtText } from "../cells/errors.ts"
import { notStarted } from "../cells/execute.ts"
import { injectedName } from "../cells/object-names.ts"
import { createHostAccess } from "../handles/host-access.ts"
import type { ExecuteOptions, Execution, Lost } from "../runtime.ts"
import type { Codecs } from "../snapshot/codec.ts"
import type { UsedObjects } from "../used-objects.ts"
import { AttributeError } from "./bridge.ts"
import { type CellLimits, createCell, type PythonCell } from "./cell.ts"
import { fitted } from "./fitted.ts"
import { betweenKernels, holdsFrames } from "./frames.ts"
import { type KnownNames, knownNames } from "./known-names.ts"
import { lateOutput } from "./late.ts"
import type { LaunchOptions } from "./launch.ts"
import { type KernelEvents, type LiveKernel, startKernel } from "./live.ts"
import { loadModule } from "./modules.ts"
import { setupFile } from "./setup-file.ts"
import { watchUse } from "./watch.ts"

export interface SessionOptions {
  launch: LaunchOptions
  limits: CellLimits
  setup?: string | { file: string } | undefined
  codecs: Codecs
}

/** One kernel after another, each with what the host has bound. */
export interface Session {
  /** What the host has bound, by name. */
  readonly bindings: Map<string, Binding>
  /** The host objects that cells have used. */
  readonly used: UsedObjects
  readonly codecs: Codecs
  readonly known: KnownNames
  readonly started: boolean
  /** The kernel's own folder; undefined while there is none. */
  readonly folder: string | undefined
  /** The cell that runs now. */
  readonly cell: PythonCell | undefined
  /** Runs a cell; the kernel is started when there is none. */
  execute(code: string, options: ExecuteOptions): Promise<Execution>
  /** Starts the kernel when there is none. */
  start(): Promise<void>
  /** Asks the kernel, which is started when there is none. */
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** Gives names their values in the kernel. */
  bind(values: ReadonlyMap<string, Binding>): Promise<void>
  /** Runs a module file in this kernel and in those to come; gives the names it exports. */
  load(file: string): Promise<string[]>
  /** The files that were loaded. */
  readonly files: Iterable<string>
  /** Ends the kernel; the next use starts another. */
  end(): Promise<void>
  /** Ends it for good: there is no next one. */
  close(): Promise<void>
}

export function createSession({ launch, limits, setup, codecs }: SessionOptions): Session {
  const bindings = new Map<string, Binding>()
  const known = knownNames(bindings)
  const loaded = new Map<string, string[]>()
  const { access, permit } = createHostAccess(
    {
      missing: (title) => new AttributeError(`${title} does not exist on the host`),
      fit: (value, old) =>
        (typeof value === "object" && value !== null) || typeof value === "number" ? fitted(value, old()) : value,
      around: (owner, call) => betweenKernels.run(holdsFrames(owner), call),
    },
    codecs,
  )
  const late = lateOutput()
  let live: LiveKernel | undefined
  let starting: Promise<LiveKernel> | undefined
  let cell: PythonCell | undefined
  let count = 0
  let closed = false
  // Of kernels that died between two cells: the next cell tells.
  let untold: Lost[] = []

  const events: KernelEvents = {
    onOutput(chunk) {
      if (cell && !cell.over) return cell.write(chunk)
      late.add(chunk)
    },
    onReport: (report, caller) => ofCell(caller)?.report(report),
    onNews: (reads, effects, caller) => ofCell(caller)?.heard(reads, effects),
    thrown: (error) => cell?.thrown(error) ?? -1,
    onForgottenFailure: (error) => late.add({ stream: "stderr", text: `${uncaughtText(error)}\n` }),
  }
  const nameOf = (value: object) => access.functions.boundBy(value)?.name ?? injectedName(value, bindings)
  /** The running cell, where it is the one that a message speaks for. */
  const ofCell = (caller: PythonCell["caller"]) => (cell?.caller === caller ? cell : undefined)

  /** Tells of a name that a kernel could not be given again. */
  const miss = (name: string, reason: string) => {
    untold = [...untold.filter((each) => each.name !== name), { name, reason }]
  }

  const bind = async (kernel: LiveKernel, values: ReadonlyMap<string, Binding>) => {
    if (values.size === 0) return
    // Guards hold before the kernel has the values.
    for (const [name, binding] of values) permit(name, binding)
    try {
      const given: [string, unknown][] = []
      for (const [name, binding] of values) given.push([name, await kernel.bridge.adopt(forPython(name, binding))])
      await kernel.bridge.ask("bind", { values: Object.fromEntries(given) })
    } catch (error) {
      for (const name of values.keys()) {
        const before = bindings.get(name)
        if (before) permit(name, before)
      }
      throw error
    }
    await known.put([...values.keys()], kernel.bridge)
  }

  const prepare = async (kernel: LiveKernel) => {
    known.setup.clear()
    const code = typeof setup === "object" ? await setupFile(setup.file) : setup
    if (code !== undefined) {
      cell = createCell({
        runtime: session,
        number: 0,
        live: kernel,
        limits,
        options: {},
        late,
        lost: () => [],
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

  const load = async (kernel: LiveKernel, file: string): Promise<string[]> => {
    const made = await loadModule(file, kernel.bridge)
    loaded.set(file, made)
    await putSetup(kernel, made)
    return made
  }

  const putSetup = async (kernel: LiveKernel, made: readonly string[]) => {
    for (const name of made) known.setup.add(name)
    await known.put(made, kernel.bridge)
  }

  // A module that cannot be loaded any more takes its names with it, and not the whole runtime.
  const reload = async (kernel: LiveKernel, file: string) => {
    const before = loaded.get(file) ?? []
    try {
      await load(kernel, file)
    } catch (error) {
      if (kernel.death !== undefined) throw error
      loaded.delete(file)
      const reason = `its module cannot be loaded again: ${error instanceof Error ? error.message : error}`
      for (const name of before) miss(name, reason)
    }
  }

  // Some of what was bound are objects of a kernel that has ended: they are lost, and the rest is bound.
  const bindOneByOne = async (kernel: LiveKernel) => {
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

  const start = async (): Promise<LiveKernel> => {
    if (live) {
      untold = known.lose(`the kernel died: ${live.death}`)
      await live.end()
      live = undefined
    }
    const kernel = await outside(() => startKernel(launch, access, events))
    try {
      await prepare(kernel)
    } catch (error) {
      await kernel.end()
      throw error
    }
    live = kernel
    // What runs on between cells, threads for example, has the same limits.
    const { memoryMb, processes } = limits
    const unwatch = watchUse({ pid: kernel.pid, memoryMb, processes, everyMs: 1000 }, (_kind, why) => {
      if (!session.cell) kernel.kill(`${why} while no cell ran`)
    })
    void kernel.exited.then(unwatch)
    return kernel
  }

  const ensure = async (): Promise<LiveKernel> => {
    if (closed) throw new AgentError("This pythonRuntime was closed before it could start.", { code: "closed" })
    if (live && live.death === undefined) return live
    starting ??= start().finally(() => {
      starting = undefined
    })
    return starting
  }

  /** What is sent for a binding: a function as the gated one, so that calls pass the gate, anything else as its value. */
  const forPython = (name: string, binding: Binding): unknown =>
    binding.kind === "function" ? access.functions.find(name)?.gated : boundValue(binding)

  const session: Session = {
    bindings,
    used: access.used,
    codecs,
    known,
    get folder() {
      return live?.folder
    },
    get started() {
      return live !== undefined
    },
    get cell() {
      return cell?.over ? undefined : cell
    },
    async execute(code, options) {
      const kernel = await ensure()
      if (options.signal?.aborted) return notStarted("The cell was aborted before it began.")
      if (closed || kernel.death !== undefined) return notStarted("The cell was aborted: its runtime was closed.")
      const before = untold.splice(0)
      const current = createCell({
        runtime: session,
        number: ++count,
        live: kernel,
        limits,
        options,
        late,
        lost: known.lose,
        nameOf,
      })
      cell = current
      known.use(code)
      const execution = await current.run(code)
      known.note(execution.changes)
      const lost = [...before, ...(execution.lost ?? [])]
      const used = access.used.takeNames(bindings)
      const changes = used.length > 0 ? { ...execution.changes, used } : execution.changes
      return { ...execution, changes, ...(lost.length > 0 && { lost }) }
    },
    async start() {
      await ensure()
    },
    async ask(op, body) {
      const { bridge } = await ensure()
      return bridge.ask(op, body)
    },
    async bind(values) {
      await bind(await ensure(), values)
    },
    load: async (file) => loaded.get(file) ?? load(await ensure(), file),
    get files() {
      return loaded.keys()
    },
    async close() {
      closed = true
      await session.end()
    },
    async end() {
      await starting?.catch(() => undefined)
      const ending = live
      live = undefined
      known.lose("")
      untold = []
      late.take()
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
const outside = AsyncLocalStorage.snapshot()
