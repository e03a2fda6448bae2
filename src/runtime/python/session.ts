import { readFile } from "node:fs/promises"
import { AgentError, ConfigError } from "../../core/errors.ts"
import { type Binding, boundValue } from "../bindings.ts"
import { notStarted } from "../cells/execute.ts"
import type { CallGate, ExecuteOptions, Execution, Lost, OutputChunk } from "../runtime.ts"
import type { BridgeEvents } from "./bridge.ts"
import { performCall } from "./calls.ts"
import { type CellLimits, createCell, type PythonCell, runningCell } from "./cell.ts"
import { createHostObjects } from "./host-objects.ts"
import type { LaunchOptions } from "./launch.ts"
import { type LiveKernel, startKernel } from "./live.ts"

export interface SessionOptions {
  launch: LaunchOptions
  limits: CellLimits
  setup?: string | { file: string } | undefined
}

/** One kernel after another, each with what the host has bound. */
export interface Session {
  /** What the host has bound, by name. */
  readonly bindings: Map<string, Binding>
  /** Every name in the namespace, as far as it is known. */
  readonly names: Set<string>
  /** Names that the setup made. */
  readonly setupNames: ReadonlySet<string>
  /** Bound names that a cell gave another value. */
  readonly changed: ReadonlySet<string>
  readonly started: boolean
  /** The cell that runs now. */
  readonly cell: PythonCell | undefined
  /** Runs a cell; the kernel is started when there is none. */
  execute(code: string, options: ExecuteOptions): Promise<Execution>
  /** Asks the kernel, which is started when there is none. */
  ask(op: string, body?: Record<string, unknown>): Promise<unknown>
  /** Gives names their values in the kernel. */
  bind(values: ReadonlyMap<string, Binding>): Promise<void>
  /** Ends the kernel; the next use starts another. */
  end(): Promise<void>
}

export function createSession({ launch, limits, setup }: SessionOptions): Session {
  const bindings = new Map<string, Binding>()
  const names = new Set<string>()
  const changed = new Set<string>()
  let setupNames = new Set<string>()
  const objects = createHostObjects()
  const late: OutputChunk[] = []
  let live: LiveKernel | undefined
  let starting: Promise<LiveKernel> | undefined
  let cell: PythonCell | undefined
  let lastGate: CallGate | undefined
  let count = 0
  // Of kernels that died between two cells: the next cell tells.
  let untold: Lost[] = []

  const events: BridgeEvents = {
    onOutput(chunk) {
      if (cell && !cell.over) return cell.write(chunk)
      const length = late.reduce((sum, { text }) => sum + text.length, 0)
      if (length < mostLate) late.push({ ...chunk, text: chunk.text.slice(0, mostLate - length) })
    },
    onReport: (report) => cell?.report(report),
    thrown: (error) => cell?.thrown(error) ?? -1,
    call(entry, method, args, named) {
      const current = cell?.over ? undefined : cell
      if (!current) {
        return performCall({ entry, method, args, named }, { gate: lastGate, signal: new AbortController().signal })
      }
      const call = runningCell.run(current, () => performCall({ entry, method, args, named }, current))
      current.track(call)
      return call
    },
  }

  const lose = (reason: string): Lost[] => {
    const gone = [...names].filter((name) => !bindings.has(name) && !setupNames.has(name))
    const reset = [...changed].map((name) => ({ name, reason: `${reason}; it is what the host gave again` }))
    names.clear()
    changed.clear()
    return [...gone.map((name) => ({ name, reason })), ...reset]
  }

  const bind = async (kernel: LiveKernel, values: ReadonlyMap<string, Binding>) => {
    if (values.size === 0) return
    const given = Array.from(values, ([name, binding]) => [name, forPython(binding)])
    await kernel.bridge.ask("bind", { values: Object.fromEntries(given) })
    for (const name of values.keys()) {
      names.add(name)
      changed.delete(name)
    }
  }

  const prepare = async (kernel: LiveKernel) => {
    const code = typeof setup === "object" ? await readFile(setup.file, "utf8") : setup
    if (code !== undefined) {
      cell = createCell({ runtime: session, number: 0, live: kernel, limits, options: {}, late, lost: () => [] })
      const execution = await cell.run(code)
      if (!execution.ok) {
        throw new ConfigError(`The setup code failed: ${execution.error.stack ?? execution.error.message}`)
      }
      setupNames = new Set(execution.changes.created)
      for (const name of setupNames) names.add(name)
    }
    try {
      await bind(kernel, bindings)
    } catch (error) {
      if (!isGone(error)) throw error
      await bindOneByOne(kernel)
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
        untold.push({ name, reason: "it was an object of the kernel that has ended" })
      }
    }
  }

  const start = async (): Promise<LiveKernel> => {
    if (live) {
      untold = lose(`the kernel died: ${live.death}`)
      await live.end()
      live = undefined
    }
    objects.clear()
    const kernel = await startKernel(launch, objects, events)
    try {
      await prepare(kernel)
    } catch (error) {
      await kernel.end()
      throw error
    }
    live = kernel
    return kernel
  }

  const ensure = async (): Promise<LiveKernel> => {
    if (live && live.death === undefined) return live
    starting ??= start().finally(() => {
      starting = undefined
    })
    return starting
  }

  const note = ({ changes }: Execution) => {
    for (const name of changes.created) names.add(name)
    for (const name of changes.removed) names.delete(name)
    for (const name of [...changes.reassigned, ...changes.removed, ...changes.created]) {
      if (bindings.has(name) || setupNames.has(name)) changed.add(name)
    }
  }

  const session: Session = {
    bindings,
    names,
    changed,
    get setupNames() {
      return setupNames
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
      if (kernel.death !== undefined) return notStarted("The cell was aborted: its runtime was closed.")
      const before = untold.splice(0)
      const current = createCell({ runtime: session, number: ++count, live: kernel, limits, options, late, lost: lose })
      cell = current
      lastGate = options.call ?? lastGate
      const execution = await current.run(code)
      note(execution)
      const lost = [...before, ...(execution.lost ?? [])]
      return lost.length > 0 ? { ...execution, lost } : execution
    },
    async ask(op, body) {
      const { bridge } = await ensure()
      return bridge.ask(op, body)
    },
    async bind(values) {
      await bind(await ensure(), values)
    },
    async end() {
      await starting?.catch(() => undefined)
      const ending = live
      live = undefined
      lose("")
      untold = []
      late.length = 0
      objects.clear()
      await ending?.end()
    },
  }
  return session
}

const mostLate = 100_000

function isGone(error: unknown): boolean {
  return error instanceof AgentError && error.code === "gone"
}

/** What is sent for a binding: a function as its binding, so that calls pass the gate, anything else as its value. */
function forPython(binding: Binding): unknown {
  return binding.kind === "function" ? binding : boundValue(binding)
}
