// Builds a processRuntime from its parts. `startPeer` starts the child processes.
import { mustBeLimit, type OptionChecks } from "../../core/checks/check-options.ts"
import { type Bindings, rebindAll } from "../bindings.ts"
import { closedRuntimeError } from "../cell-queue.ts"
import { CellSyntaxError, parseCell } from "../compiler/parse-cell.ts"
import { createHostObjectState } from "../host-object-state.ts"
import { resolveIsolation } from "../isolation.ts"
import { createAmbient } from "../js/ambient/cell-env.ts"
import { createCellTimers } from "../js/ambient/cell-timers.ts"
import { createCellScheduler } from "../js/cell-scheduler.ts"
import { notStartedExecution } from "../js/execute-cell.ts"
import { cellStorage, createSharedCellState, RunningCell } from "../js/running-cell.ts"
import type { ProcessRuntime, ProcessRuntimeOptions } from "../process.ts"
import { refuseUnsupportedEnv, toRemoteEnv } from "../remote-env.ts"
import { checkRules } from "../rules/check-rules.ts"
import { explainViolations, type Rule } from "../rules/rules.ts"
import type { CellExecution, CellNotExecuted, CellOptions, Runtime } from "../runtime.ts"
import { checkingOptions, snapshotBytes } from "../runtime.ts"
import {
  checkRuntimeOptions,
  confinementChecks,
  runtimeLimitChecks as limitChecks,
  mustBeCodecs,
} from "../runtime-options.ts"
import { validateRetrieved } from "../schema.ts"
import type { RemoteTypeGate } from "../type-gate/remote-type-gate.ts"
import { createBindingRegistry } from "./binding-registry.ts"
import { loadModuleInChild, refuseUnreadableFile } from "./child-modules.ts"
import type { ExecuteInput } from "./child-protocol.ts"
import { createChildSupervisor } from "./child-supervisor.ts"
import { declareChildNames, describeChildShapes, listChildNames } from "./describe-child-names.ts"
import { executeInChild } from "./execute-in-child.ts"
import type { StartPeer } from "./peer-process.ts"
import { processLimitChecks, processLimitNames, resolveLimits } from "./process-limits.ts"
import { restoreChildSnapshot, takeChildSnapshot } from "./process-snapshots.ts"
import { createWorkingFolder } from "./working-folder.ts"

export function createProcessRuntime<B extends Bindings>(
  bindings: B | undefined,
  options: ProcessRuntimeOptions,
  startPeer: StartPeer,
): ProcessRuntime<B> {
  checkRuntimeOptions("processRuntime", options, optionChecks)
  const { rules = [], read = [], write = [], network = "none", limits, codecs = {} } = options
  const env = definedVariables(options.env)
  const warnings: string[] = []
  const isolation = resolveIsolation("processRuntime", options.isolation, (warning) => {
    warnings.push(warning)
    options.onWarning?.(warning)
  })
  const folder = createWorkingFolder(options.cwd)
  let closed = false
  let isTracking = false

  const shared = createSharedCellState()
  const ambient = ambientNames()
  const registry = createBindingRegistry(ambient, codecs)
  const launch = { isolation, folder, bounds: resolveLimits(limits), env, read, write, network }
  const hostState = createHostObjectState(codecs)
  const host = createChildSupervisor(launch, registry, shared, startPeer)
  if (bindings) registry.register(registry.checkNew(bindings))

  const takeUsed = () => registry.access.usedObjects.takeNames(registry.bindings)

  const refuseClosed = (use: string) => {
    if (closed) throw closedRuntimeError("processRuntime", use)
  }
  const open = (use: string) => {
    refuseClosed(use)
    return host.connect()
  }
  const scheduler = createCellScheduler(shared, refuseClosed)

  /** Returns the execution of the cell whose call the host is answering. */
  const askingExecution = () => {
    const cell = cellStorage.getStore()
    return cell && host.executionOf(cell)
  }

  let gate: RemoteTypeGate | undefined
  const gated = async (code: string, { typeGate = "off" }: CellOptions, run: () => Promise<CellExecution>) => {
    if (!gate && typeGate === "off") return run()
    const { createRemoteTypeGate: createRemoteGate } = await import("../type-gate/remote-type-gate.ts")
    gate ??= createRemoteGate({
      describe: () => declareChildNames(host, registry, undefined),
      names: async () => listChildNames(await host.connect(), registry),
      queryShapes: async (wanted) => describeChildShapes(wanted, await host.connect()),
      bindings: registry.bindings,
      ambient,
    })
    return gate.checkAndRun(code, typeGate, run)
  }

  const runCell = async (code: string, parent: RunningCell | undefined, executeOptions: CellOptions) => {
    // Start no child for a cell that was aborted while it waited.
    if (executeOptions.signal?.aborted) return notStartedExecution("The cell was aborted before it began.")
    const refused = ruleRefusal(code, rules)
    if (refused) return refused
    const cell = new RunningCell(shared, parent, executeOptions)
    const { timeoutMs, env: world, transaction = false, maxPreviewChars, keepCutValue, allowFinish } = executeOptions
    const check = typeof transaction === "object" ? () => transaction.check(runtime) : undefined
    const input: ExecuteInput = { code, variables: world?.variables ?? env }
    const sent = toRemoteEnv(world)
    if (sent) input.env = sent
    if (timeoutMs !== undefined) input.timeoutMs = timeoutMs
    if (parent) input.within = host.executionOf(parent)
    if (maxPreviewChars !== undefined) input.maxPreviewChars = maxPreviewChars
    if (keepCutValue) input.keepCutValue = keepCutValue
    if (allowFinish) input.allowFinish = allowFinish
    if (isTracking) input.trackInjected = true
    if (transaction !== false) input.transaction = check ? "check" : "on"
    return gated(code, executeOptions, () => executeInChild(cell, input, host, takeUsed, check))
  }

  const runtime: Runtime & { warnings: readonly string[] } = {
    language: "typescript",
    isolation,
    warnings,
    // Packages are looked for in the working folder; a temporary one has none.
    access: {
      rules,
      network: isolation !== "os" || network === "all",
      packages: options.cwd !== undefined,
      remote: true,
    },
    async inject(more) {
      refuseClosed("inject()")
      const { isStarted: started } = host
      const entries = registry.checkNew(more, started)
      // Register first: guards must apply before the child has the objects.
      const takeBack = registry.register(entries)
      // Without a child there is nothing to send. A child that is being started may have missed the new bindings.
      if (started)
        await host
          .connect()
          .then((child) => child.bind("inject", entries))
          .catch(undoAndRethrow(takeBack))
    },
    async load(file) {
      const known = registry.modules.get(file)
      if (known) return known.names
      refuseUnreadableFile(file, launch)
      return loadModuleInChild(file, await open("load()"), registry)
    },
    writableFolders: () => [folder.path(), ...write],
    async update(values) {
      const child = await open("update()")
      if (isTracking) await child.ask("trackInjected")
      const entries = registry.checkUpdates(values)
      const takeBack = registry.register(entries.filter(([name]) => registry.bindings.has(name)))
      await child.bind("update", entries).catch(undoAndRethrow(takeBack))
    },
    async retrieve(name, schema) {
      const child = await open("retrieve()")
      return validateRetrieved(name, await child.ask("retrieve", { name }), schema)
    },
    async execute(code, executeOptions = {}) {
      refuseClosed("execute()")
      refuseUnsupportedEnv("processRuntime", executeOptions.env, unsupportedEnv)
      return scheduler.runCell((parent) => runCell(code, parent, executeOptions), executeOptions.signal)
    },
    async describe(names) {
      refuseClosed("describe()")
      return declareChildNames(host, registry, names)
    },
    async names() {
      return listChildNames(await open("names()"), registry)
    },
    async keep(prefix, value) {
      const child = await open("keep()")
      const name = String(await child.ask("keep", { prefix, value }))
      host.recordNameChanges({ created: [name], reassigned: [], removed: [] })
      return name
    },
    async forget(names) {
      const child = await open("forget()")
      await child.ask("forget", { names })
      host.recordNameChanges({ created: [], reassigned: [], removed: [...names] })
    },
    async trackInjected() {
      refuseClosed("trackInjected()")
      isTracking = true
    },
    async snapshot(limit) {
      return scheduler.runExclusive("snapshot()", async () => {
        const maxBytes = snapshotBytes(options.maxSnapshotBytes, limit)
        const wanted = { maxBytes, since: limit?.since, within: askingExecution() }
        return takeChildSnapshot(await host.connect(), wanted, registry, hostState)
      })
    },
    async restore(snapshot) {
      return scheduler.replaceNames("restore()", async () =>
        restoreChildSnapshot(snapshot, await host.connect(), host, registry, hostState),
      )
    },
    async fork() {
      const { bindings } = registry
      const copy = await scheduler.runExclusive("fork()", async () =>
        takeChildSnapshot(await host.connect(), { maxBytes: Infinity, within: askingExecution() }, registry),
      )
      const given = rebindAll(bindings, await hostState.copy(bindings))
      const other = createProcessRuntime(given, options, startPeer)
      for (const file of registry.modules.keys()) await other.load?.(file)
      if (isTracking) await other.trackInjected?.()
      return Object.assign(other, { notCopied: await other.restore({ ...copy, exact: true }) })
    },
    reset: () =>
      scheduler.replaceNames("reset()", async () => {
        shared.epoch++
        shared.lateOutput.length = shared.lateOutputLength = 0
        registry.resetFunctions()
        await host.reset()
        host.runningChild?.connection.forgetPeerObjects()
      }),
    async close() {
      if (closed) return
      closed = true
      scheduler.close(closedRuntimeError("processRuntime", "The cell"))
      registry.access.functions.reset()
      await host.close()
      folder.remove()
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  // The cast is safe: the type parameter exists only at compile time.
  return checkingOptions(runtime) as ProcessRuntime<B>
}

const optionChecks: OptionChecks<ProcessRuntimeOptions> = {
  ...confinementChecks,
  limits: limitChecks(processLimitNames, processLimitChecks),
  maxSnapshotBytes: mustBeLimit(1),
  codecs: mustBeCodecs,
}

function undoAndRethrow(takeBack: () => void): (error: unknown) => never {
  return (error) => {
    takeBack()
    throw error
  }
}

function definedVariables(variables: ProcessRuntimeOptions["env"] = {}): Record<string, string> {
  const entries = Object.entries(variables).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text] as const],
  )
  return Object.fromEntries(entries)
}

/** Parts of an env that cannot be sent: cells fetch and import in the child. */
const unsupportedEnv = ["fetch", "import"] as const

/** Returns the names of the platform that cells see, which are the same in every runtime. */
function ambientNames(): ReadonlySet<string> {
  const shared = createSharedCellState()
  return new Set(Object.keys(createAmbient({ shared, timers: createCellTimers(shared), cwd: ".", scope: () => ({}) })))
}

/** Returns the failed execution of a cell that breaks a rule, or undefined if it breaks none. */
function ruleRefusal(code: string, rules: readonly Rule[]): CellNotExecuted | undefined {
  const [violation, ...others] = rules.length > 0 ? violationsOf(code, rules) : []
  if (!violation) return undefined
  const { line, column } = violation
  return {
    ok: false,
    error: { kind: "security", message: explainViolations([violation, ...others]), line, column },
    stdout: "",
    stderr: "",
    output: "",
    durationMs: 0,
    changes: { created: [], reassigned: [], removed: [] },
  }
}

function violationsOf(code: string, rules: readonly Rule[]): ReturnType<typeof checkRules> {
  try {
    return checkRules(parseCell(code), rules)
  } catch (error) {
    // A syntax error is reported when the cell is compiled.
    if (error instanceof CellSyntaxError) return []
    throw error
  }
}
