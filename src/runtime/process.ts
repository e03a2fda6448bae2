import { AgentError, ConfigError, UnsupportedError } from "../core/errors.ts"
import type { Bindings } from "./bindings.ts"
import { createAmbient } from "./cells/cell-env.ts"
import { notStarted } from "./cells/execute.ts"
import { createQueue } from "./cells/queue.ts"
import { CellStopped, RunningCell, running, type Shared } from "./cells/running-cell.ts"
import { createTimers } from "./cells/timers.ts"
import { executeRemotely } from "./process/cell.ts"
import { declareRemote, namesOf } from "./process/describe.ts"
import { workingFolder } from "./process/folder.ts"
import { createHost } from "./process/host.ts"
import { sandboxProblem } from "./process/isolation.ts"
import { boundsOf, type ProcessLimits } from "./process/limits.ts"
import type { ExecuteInput } from "./process/protocol.ts"
import { refusal } from "./process/refusal.ts"
import { createRegistry } from "./process/registry.ts"
import { loadSnapshot, takeSnapshot } from "./process/snapshots.ts"
import type { Rule } from "./rules/rules.ts"
import type { ExecuteOptions, Execution, Runtime, TypedRuntime } from "./runtime.ts"
import { validated } from "./schema.ts"
import type { RemoteGate } from "./type-gate/remote-gate.ts"

export type { ProcessLimits } from "./process/limits.ts"

export interface ProcessRuntimeOptions {
  /** What cells must not do. Default: no rules. */
  rules?: readonly Rule[] | undefined
  /** The working directory of cells. Default: a temporary one, removed when the runtime is closed. */
  cwd?: string | undefined
  /** What confines the process: `process`, nothing but its being another one; `os`, bubblewrap: its own view of files,
   *  processes and network, or an error where that cannot be had; `auto`, `os` where it can be had, else `process` with a
   *  warning. Default `process`. */
  isolation?: "process" | "os" | "auto" | undefined
  /** With `os`: what it may read besides Node and Karst themselves. Default: nothing. */
  read?: readonly string[] | undefined
  /** With `os`: what it may write besides its working directory. Default: nothing. */
  write?: readonly string[] | undefined
  /** With `os`: whether it has a network. Default `none`. */
  network?: "none" | "all" | undefined
  limits?: ProcessLimits | undefined
  /** All there is in its environment. Default: nothing of the host's. */
  env?: Record<string, string> | undefined
  /** Told of each warning as it comes. */
  onWarning?: ((message: string) => void) | undefined
}

export interface ProcessRuntime<B extends Bindings> extends TypedRuntime<B> {
  /** What could not be as it was asked for. */
  readonly warnings: readonly string[]
}

/** Runs TypeScript in a process of its own, started at first use. Data crosses by structured clone; functions, instances
 *  and whatever else has behaviour stay on the host and are called from there, each by the gate. Whatever happens to the
 *  process, the host lives: the execution says so, and the next use starts another with all that was injected. */
export function processRuntime<B extends Bindings = Record<never, never>>(
  bindings?: B,
  options: ProcessRuntimeOptions = {},
): ProcessRuntime<B> {
  const { rules = [], read = [], write = [], network = "none", env = {}, limits } = options
  const warnings: string[] = []
  const isolation = obtained(options, warnings)
  const folder = workingFolder(options.cwd)
  let closed = false

  const shared: Shared = { cells: new Set(), gate: undefined, late: [], lateLength: 0, epoch: 0, onStop() {} }
  const ambient = ambientNames()
  const registry = createRegistry(ambient, shared)
  const queue = createQueue()
  const launch = { isolation, folder, bounds: boundsOf(limits), env, read, write, network }
  const host = createHost(launch, registry, shared)
  if (bindings) registry.add(registry.check(bindings))

  const closedError = (use: string) =>
    new AgentError(`${use} came too late: this processRuntime is closed. Make another one with processRuntime().`, {
      code: "closed",
    })
  const open = (use: string) => {
    if (closed) throw closedError(use)
    return host.connect()
  }

  let gate: RemoteGate | undefined
  const gated = async (code: string, { typeGate = "off" }: ExecuteOptions, run: () => Promise<Execution>) => {
    if (!gate && typeGate === "off") return run()
    const { createRemoteGate } = await import("./type-gate/remote-gate.ts")
    gate ??= createRemoteGate({
      describe: () => declareRemote(host, registry, undefined),
      names: async () => namesOf(await host.connect(), registry),
      bindings: registry.bindings,
      ambient,
    })
    return gate.pass(code, typeGate, run)
  }

  const runCell = async (code: string, parent: RunningCell | undefined, executeOptions: ExecuteOptions) => {
    const refused = refusal(code, rules)
    if (refused) return refused
    const cell = new RunningCell(shared, parent, executeOptions)
    const { timeoutMs, env: world, transaction = false } = executeOptions
    const check = typeof transaction === "object" ? () => transaction.check(runtime) : undefined
    const input: ExecuteInput = {
      code,
      timeoutMs,
      variables: world?.variables ?? env,
      within: parent && host.executionOf(parent),
      transaction: check ? "check" : transaction ? "on" : "off",
    }
    return gated(code, executeOptions, () => executeRemotely(cell, input, host, check))
  }

  const isWithin = () => queue.busy && running.getStore()?.belongsTo(shared) === true
  const refuseWithin = (use: string) => {
    if (closed) throw closedError(use)
    if (!isWithin()) return
    throw new ConfigError(`${use} would take the names from under the cell that calls it. Call it when it has ended.`)
  }
  const inTurn = <T>(job: () => Promise<T>): Promise<T> => (isWithin() ? job() : queue.enter(job))

  const runtime: Runtime & { warnings: readonly string[] } = {
    language: "typescript",
    isolation,
    warnings,
    async inject(more) {
      if (closed) throw closedError("inject()")
      const entries = registry.check(more)
      const child = await host.current()
      await child?.bind("inject", entries)
      registry.add(entries)
    },
    async update(values) {
      const child = await open("update()")
      const entries = registry.renew(values)
      await child.bind("update", entries)
      registry.add(entries.filter(([name]) => registry.bindings.has(name)))
    },
    async retrieve(name, schema) {
      const child = await open("retrieve()")
      return validated(name, await child.ask("retrieve", name), schema)
    },
    async execute(code, executeOptions = {}) {
      if (closed) throw closedError("execute()")
      refuseUnsupported(executeOptions)
      const { signal } = executeOptions
      const parent = running.getStore()
      // A cell under way may wait for this one, also through a leftover, and must not keep it waiting.
      if (isWithin()) return runCell(code, parent, executeOptions)
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
      if (closed) throw closedError("describe()")
      return declareRemote(host, registry, names)
    },
    async names() {
      return namesOf(await open("names()"), registry)
    },
    async keep(prefix, value) {
      const child = await open("keep()")
      const name = String(await child.ask("keep", { prefix, value }, prefix))
      host.note({ created: [name], reassigned: [], removed: [] })
      return name
    },
    async snapshot() {
      if (closed) throw closedError("snapshot()")
      return inTurn(async () => takeSnapshot(await host.connect()))
    },
    async restore(snapshot) {
      refuseWithin("restore()")
      return inTurn(async () => loadSnapshot(snapshot, await host.connect(), host, registry))
    },
    async fork() {
      if (closed) throw closedError("fork()")
      const copy = await inTurn(async () => takeSnapshot(await host.connect()))
      const other: Runtime = processRuntime(Object.fromEntries(registry.bindings), options)
      await other.restore?.(copy)
      return other
    },
    async reset() {
      refuseWithin("reset()")
      await inTurn(async () => {
        shared.epoch++
        shared.late.length = shared.lateLength = 0
        registry.renewFunctions()
        await host.reset()
      })
    },
    async close() {
      if (closed) return
      closed = true
      queue.refuse(closedError("The cell"))
      for (const cell of shared.cells)
        cell.stop(new CellStopped("aborted", "The cell was aborted: its runtime was closed."))
      shared.epoch++
      await host.close()
      folder.remove()
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  // The types of what was put in are known here and nowhere else; at run time a runtime is a runtime.
  return runtime as ProcessRuntime<B>
}

function obtained({ isolation = "process", onWarning }: ProcessRuntimeOptions, warnings: string[]): "process" | "os" {
  if (isolation === "process") return "process"
  const problem = sandboxProblem()
  if (problem === undefined) return "os"
  if (isolation === "os") {
    throw new UnsupportedError(`isolation "os" cannot be had: ${problem}. Or ask for "auto", which does without.`)
  }
  const warning = `isolation: only a process confines the cells, which keeps neither files nor network from them: ${problem}.`
  warnings.push(warning)
  onWarning?.(warning)
  return "process"
}

function refuseUnsupported({ env = {} }: ExecuteOptions): void {
  for (const part of ["now", "random", "fetch", "import"] as const) {
    if (env[part] === undefined) continue
    throw new UnsupportedError(
      `env.${part} cannot be given to a processRuntime: it is the host's. Use jsRuntime for it.`,
    )
  }
}

/** The names that cells know the platform by, which are the same in every runtime. */
function ambientNames(): ReadonlySet<string> {
  const shared: Shared = { cells: new Set(), gate: undefined, late: [], lateLength: 0, epoch: 0, onStop() {} }
  return new Set(Object.keys(createAmbient({ shared, timers: createTimers(shared), cwd: ".", scope: () => ({}) })))
}
