import { isAboveZero, type OptionChecks } from "../../core/check-options.ts"
import { AgentError } from "../../core/errors.ts"
import { type Bindings, renewedIn } from "../bindings.ts"
import { createAmbient } from "../cells/cell-env.ts"
import { notStarted } from "../cells/execute.ts"
import { CellStopped, RunningCell, type Shared } from "../cells/running-cell.ts"
import { createTimers } from "../cells/timers.ts"
import { createTurns } from "../cells/turns.ts"
import { createHostState } from "../host-state.ts"
import type { ProcessRuntime, ProcessRuntimeOptions } from "../process.ts"
import { type ExecuteOptions, type Execution, type Runtime, snapshotBytes } from "../runtime.ts"
import { areCodecs, checkRuntimeOptions, confinement, limits as limitChecks } from "../runtime-options.ts"
import { validated } from "../schema.ts"
import { refuseUnsent, sentEnv } from "../sent-env.ts"
import type { RemoteGate } from "../type-gate/remote-gate.ts"
import { executeRemotely } from "./cell.ts"
import { declareRemote, lookAt, namesOf } from "./describe.ts"
import { workingFolder } from "./folder.ts"
import { createHost } from "./host.ts"
import { obtainIsolation } from "./isolation.ts"
import { boundsOf, processLimits } from "./limits.ts"
import { loadModule, refuseUnreadable } from "./modules.ts"
import type { StartPeer } from "./peer-process.ts"
import type { ExecuteInput } from "./protocol.ts"
import { refusal } from "./refusal.ts"
import { createRegistry } from "./registry.ts"
import { loadSnapshot, takeSnapshot } from "./snapshots.ts"

/** A processRuntime; `start` starts its child processes. */
export function createProcessRuntime<B extends Bindings>(
  bindings: B | undefined,
  options: ProcessRuntimeOptions,
  startPeer: StartPeer,
): ProcessRuntime<B> {
  checkRuntimeOptions("processRuntime", options, optionChecks)
  const { rules = [], read = [], write = [], network = "none", limits, codecs = {} } = options
  const env = definedIn(options.env)
  const warnings: string[] = []
  const isolation = obtainIsolation("processRuntime", options.isolation, (warning) => {
    warnings.push(warning)
    options.onWarning?.(warning)
  })
  const folder = workingFolder(options.cwd)
  let closed = false

  const shared: Shared = { cells: new Set(), gate: undefined, late: [], lateLength: 0, epoch: 0, onStop() {} }
  const ambient = ambientNames()
  const registry = createRegistry(ambient, codecs)
  const launch = { isolation, folder, bounds: boundsOf(limits), env, read, write, network }
  const hostState = createHostState(codecs)
  const host = createHost(launch, registry, shared, startPeer)
  if (bindings) registry.add(registry.check(bindings))

  const takeUsed = () => registry.access.used.takeNames(registry.bindings)

  const closedError = (use: string) =>
    new AgentError(`${use} came too late: this processRuntime is closed. Make another one with processRuntime().`, {
      code: "closed",
    })
  const refuseClosed = (use: string) => {
    if (closed) throw closedError(use)
  }
  const open = (use: string) => {
    refuseClosed(use)
    return host.connect()
  }
  const turns = createTurns(shared, refuseClosed)

  let gate: RemoteGate | undefined
  const gated = async (code: string, { typeGate = "off" }: ExecuteOptions, run: () => Promise<Execution>) => {
    if (!gate && typeGate === "off") return run()
    const { createRemoteGate } = await import("../type-gate/remote-gate.ts")
    gate ??= createRemoteGate({
      describe: () => declareRemote(host, registry, undefined),
      names: async () => namesOf(await host.connect(), registry),
      look: async (wanted) => lookAt(wanted, await host.connect()),
      bindings: registry.bindings,
      ambient,
    })
    return gate.pass(code, typeGate, run)
  }

  const runCell = async (code: string, parent: RunningCell | undefined, executeOptions: ExecuteOptions) => {
    // No child is started for a cell that was aborted before its turn.
    if (executeOptions.signal?.aborted) return notStarted("The cell was aborted before it began.")
    const refused = refusal(code, rules)
    if (refused) return refused
    const cell = new RunningCell(shared, parent, executeOptions)
    const { timeoutMs, env: world, transaction = false } = executeOptions
    const check = typeof transaction === "object" ? () => transaction.check(runtime) : undefined
    const input: ExecuteInput = { code, variables: world?.variables ?? env }
    const sent = sentEnv(world)
    if (sent) input.env = sent
    if (timeoutMs !== undefined) input.timeoutMs = timeoutMs
    if (parent) input.within = host.executionOf(parent)
    if (transaction !== false) input.transaction = check ? "check" : "on"
    return gated(code, executeOptions, () => executeRemotely(cell, input, host, takeUsed, check))
  }

  const runtime: Runtime & { warnings: readonly string[] } = {
    language: "typescript",
    isolation,
    warnings,
    async inject(more) {
      refuseClosed("inject()")
      const { started } = host
      const entries = registry.check(more, started)
      // Registered first: guards must hold before the child has the objects.
      const takeBack = registry.add(entries)
      // Without a child there is nothing to wait for. A child that is being started right now must find the bindings.
      if (started)
        await host
          .connect()
          .then((child) => child.bind("inject", entries))
          .catch(undone(takeBack))
    },
    async load(file) {
      const known = registry.modules.get(file)
      if (known) return known.names
      refuseUnreadable(file, launch)
      return loadModule(file, await open("load()"), registry)
    },
    writable: () => [folder.path(), ...write],
    async update(values) {
      const child = await open("update()")
      const entries = registry.renew(values)
      const takeBack = registry.add(entries.filter(([name]) => registry.bindings.has(name)))
      await child.bind("update", entries).catch(undone(takeBack))
    },
    async retrieve(name, schema) {
      const child = await open("retrieve()")
      return validated(name, await child.ask("retrieve", { name }), schema)
    },
    async execute(code, executeOptions = {}) {
      refuseClosed("execute()")
      refuseUnsent("processRuntime", executeOptions.env, notHere)
      return turns.cell((parent) => runCell(code, parent, executeOptions), executeOptions.signal)
    },
    async describe(names) {
      refuseClosed("describe()")
      return declareRemote(host, registry, names)
    },
    async names() {
      return namesOf(await open("names()"), registry)
    },
    async keep(prefix, value) {
      const child = await open("keep()")
      const name = String(await child.ask("keep", { prefix, value }))
      host.note({ created: [name], reassigned: [], removed: [] })
      return name
    },
    async snapshot(limit) {
      refuseClosed("snapshot()")
      const maxBytes = snapshotBytes(options.maxSnapshotBytes, limit)
      const take = async () =>
        takeSnapshot(await host.connect(), { maxBytes, since: limit?.since }, registry, hostState)
      return turns.take("snapshot()", take)
    },
    async restore(snapshot) {
      refuseClosed("restore()")
      turns.refuseWithin("restore()")
      return turns.take("restore()", async () =>
        loadSnapshot(snapshot, await host.connect(), host, registry, hostState),
      )
    },
    async fork() {
      refuseClosed("fork()")
      const { bindings } = registry
      const copy = await turns.take("fork()", async () =>
        takeSnapshot(await host.connect(), { maxBytes: Number.POSITIVE_INFINITY }, registry),
      )
      const given = renewedIn(bindings, await hostState.copy(bindings))
      const other = createProcessRuntime(given, options, startPeer)
      for (const file of registry.modules.keys()) await other.load?.(file)
      await other.restore(copy)
      return other
    },
    async reset() {
      refuseClosed("reset()")
      turns.refuseWithin("reset()")
      await turns.take("reset()", async () => {
        shared.epoch++
        shared.late.length = shared.lateLength = 0
        registry.renewFunctions()
        await host.reset()
        host.live?.connection.forgetPeerObjects()
      })
    },
    async close() {
      if (closed) return
      closed = true
      turns.end(closedError("The cell"))
      for (const cell of shared.cells)
        cell.stop(new CellStopped("aborted", "The cell was aborted: its runtime was closed."))
      shared.epoch++
      registry.access.functions.reset()
      await host.close()
      folder.remove()
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  // Only the type parameter knows the types of the bindings; at run time all runtimes have the same form.
  return runtime as ProcessRuntime<B>
}

const optionChecks: OptionChecks<ProcessRuntimeOptions> = {
  ...confinement,
  limits: limitChecks(processLimits),
  maxSnapshotBytes: isAboveZero,
  codecs: areCodecs,
}

function undone(takeBack: () => void): (error: unknown) => never {
  return (error) => {
    takeBack()
    throw error
  }
}

function definedIn(variables: ProcessRuntimeOptions["env"] = {}): Record<string, string> {
  const entries = Object.entries(variables).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text] as const],
  )
  return Object.fromEntries(entries)
}

/** Cells fetch and import in their own process. */
const notHere = ["fetch", "import"] as const

/** The names that cells know the platform by, which are the same in every runtime. */
function ambientNames(): ReadonlySet<string> {
  const shared: Shared = { cells: new Set(), gate: undefined, late: [], lateLength: 0, epoch: 0, onStop() {} }
  return new Set(Object.keys(createAmbient({ shared, timers: createTimers(shared), cwd: ".", scope: () => ({}) })))
}
