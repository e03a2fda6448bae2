// karst/python: runs cells in a Jupyter kernel, a separate Python process.
import * as check from "../core/checks/check-options.ts"
import { megabyte } from "../core/child/process-usage.ts"
import { AgentError, ConfigError, UnsupportedError } from "../core/errors.ts"
import { createNameGenerator } from "./bindings/binding-names.ts"
import { type Bindings, rebindAll } from "./bindings.ts"
import { closedRuntimeError, createCellQueue } from "./cell-queue.ts"
import { bindingOf } from "./handles/peer-objects.ts"
import { createHostObjectState } from "./host-object-state.ts"
import { resolveIsolation } from "./isolation.ts"
import { notStartedExecution } from "./js/execute-cell.ts"
import { createWorkingFolder } from "./process/working-folder.ts"
import type { ProcessRuntimeOptions } from "./process.ts"
import { PythonError } from "./python/cell-report.ts"
import { describePython } from "./python/describe-python.ts"
import type { SandboxOptions } from "./python/kernel/kernel-launch.ts"
import { createKernelSupervisor, type KernelSupervisor } from "./python/kernel/kernel-supervisor.ts"
import type { PyReference } from "./python/py-reference.ts"
import { checkNewBindings, checkUpdatedBindings } from "./python/python-bindings.ts"
import { currentCell } from "./python/python-cell.ts"
import { unknownNameMessage } from "./python/python-names.ts"
import { restoreSnapshot, takeSnapshot } from "./python/python-snapshot.ts"
import { createCellRuleCheck } from "./python/rules/cell-rule-check.ts"
import { passingTablesToKernel } from "./python/tables/table-transfer.ts"
import { refuseUnsupportedEnv } from "./remote-env.ts"
import type { Rule } from "./rules/rules.ts"
import { checkingOptions, type Runtime, type RuntimeName, snapshotBytes } from "./runtime.ts"
import {
  checkRuntimeOptions,
  confinementChecks,
  runtimeLimitChecks as limitChecks,
  mustBeCodecs,
  mustBeNonEmptyText,
} from "./runtime-options.ts"
import { validateRetrieved } from "./schema.ts"
import type { TypedRuntime } from "./typed-runtime.ts"

export { type KeywordArguments, kwargs, type PyReference, py } from "./python/py-reference.ts"
export { safePythonRules } from "./python/rules/safe-python-rules.ts"
export { table } from "./python/tables/table.ts"

export interface PythonRuntimeOptions
  extends SandboxOptions,
    Pick<ProcessRuntimeOptions, "isolation" | "maxSnapshotBytes" | "codecs" | "onWarning"> {
  /** The interpreter. Default: `KARST_PYTHON`, the active virtual environment, the first on PATH with ipykernel. */
  python?: string | undefined
  /** Python code, or a file with it, that runs whenever a kernel starts. The names it defines count as injected. */
  setup?: string | { file: string } | undefined
  /** The working folder of cells. Default: a temporary folder, which is removed with the kernel. */
  cwd?: string | undefined
  limits?: PythonLimits | undefined
  /** Environment variables of the kernel. Otherwise it gets only those that Python needs. */
  env?: Record<string, string | undefined> | undefined
  /** Static checks of cells. With rules, IPython's own syntax (`!ls`, `%magic`) is refused too. Default: no rules. */
  rules?: readonly Rule[] | undefined
}

export interface PythonRuntime<B extends Bindings> extends TypedRuntime<ResolvedReferences<B>> {
  /** The options that could not be fulfilled, one message each. */
  readonly warnings: readonly string[]
}

export interface PythonLimits {
  /** Memory of the kernel and its child processes. Default 4 GiB. */
  memoryBytes?: number | undefined
  /** Number of processes: the kernel and its child processes. Default 512. */
  processes?: number | undefined
  /** Processor time of one cell. Default: none. */
  cpuMs?: number | undefined
  /** Size of the output and images of one cell. Default 16 million. */
  outputBytes?: number | undefined
  /** How long an interrupted cell may take to stop before its kernel is ended. Default 1000. */
  graceMs?: number | undefined
}

/** Creates a runtime that executes cells in a Jupyter kernel. Data crosses by copy. Functions and objects with methods
 *  stay on their side, and the other side gets handles. The kernel starts at first use, and again after it died:
 *  injected values are then bound again, and the execution reports the names that are lost. */
export function pythonRuntime<B extends Bindings = Bindings>(
  bindings?: B,
  options: PythonRuntimeOptions = {},
): PythonRuntime<B> {
  checkRuntimeOptions("pythonRuntime", options, optionChecks)
  const { limits = {}, setup, isolation: requestedIsolation, python, env, network, read, write, codecs = {} } = options
  const cwd = options.cwd === undefined ? undefined : createWorkingFolder(options.cwd).path()
  const { memoryBytes = 4096 * megabyte, processes = 512, cpuMs, outputBytes = 16_000_000, graceMs = 1000 } = limits
  const memoryMb = Math.ceil(memoryBytes / megabyte)
  const warnings: string[] = []
  const isolation = resolveIsolation("pythonRuntime", requestedIsolation, (message) => {
    warnings.push(message)
    options.onWarning?.(message)
  })
  const rules = createCellRuleCheck(python, options.rules ?? [])
  const hostState = createHostObjectState(codecs)
  const kernel = createKernelSupervisor({
    launch: { python, cwd, env, memoryMb, isolation, network, read, write },
    limits: { memoryMb, processes, cpuMs, outputBytes, graceMs },
    setup,
    codecs,
  })
  const queue = createCellQueue()
  const nameGenerator = createNameGenerator((name) => kernel.knownNames.all.has(name))
  let closed = false
  let isTracking = false
  let closing: Promise<void> | undefined

  for (const [name, binding] of checkNewBindings(bindings ?? {}, kernel)) kernel.bindings.set(name, binding)

  const throwIfClosed = (use: string) => {
    if (closed) throw closedRuntimeError("pythonRuntime", use)
  }
  /** Returns true if the current call comes from a running cell of this runtime. */
  const isAskedByCell = () => {
    const parent = currentCell.getStore()
    return parent?.owner === kernel && !parent.isOver
  }
  /** Runs a job when no cell is running. A job for a running cell runs at once, because the cell waits for it. */
  const whenIdle = async <T>(use: string, job: () => Promise<T>): Promise<T> => {
    throwIfClosed(use)
    return isAskedByCell() ? job() : queue.enter(job)
  }

  const runtime: Runtime & { warnings: readonly string[] } = {
    language: "python",
    isolation,
    warnings,
    access: {
      rules: options.rules ?? [],
      network: isolation !== "os" || network === "all",
      packages: true,
      remote: true,
    },
    inject: (newBindings) =>
      whenIdle("inject()", async () => {
        const checked = checkNewBindings(newBindings, kernel)
        await kernel.bind(checked)
        for (const [name, binding] of checked) {
          kernel.bindings.set(name, binding)
          nameGenerator.markUsed(name)
        }
      }),
    load: (file) => whenIdle("load()", () => kernel.loadFile(file)),
    writableFolders: () => [cwd, kernel.folder, ...(write ?? [])].filter((folder) => folder !== undefined),
    update: (values) =>
      whenIdle("update()", async () => {
        if (isTracking) await addDigests(kernel)
        const changes = checkUpdatedBindings(values, await readNames(kernel), kernel)
        await kernel.bind(changes)
        for (const [name, binding] of changes) if (kernel.bindings.has(name)) kernel.bindings.set(name, binding)
      }),
    async retrieve(name, schema) {
      return validateRetrieved(name, await whenIdle("retrieve()", () => retrieveValue(name, kernel)), schema)
    },
    async execute(code, executeOptions = {}) {
      throwIfClosed("execute()")
      const { signal, transaction } = executeOptions
      if (transaction) {
        throw new UnsupportedError("pythonRuntime cannot roll a cell back: leave out `transaction`, or use jsRuntime.")
      }
      refuseUnsupportedEnv("pythonRuntime", executeOptions.env, ["fetch", "import", "variables"])
      if (executeOptions.typeGate && executeOptions.typeGate !== "off") {
        throw new UnsupportedError("pythonRuntime has no type gate: leave out `typeGate`, or use a TypeScript runtime.")
      }
      if (signal?.aborted) return notStartedExecution("The cell was aborted before it began.")
      const parent = currentCell.getStore()
      if (parent && isAskedByCell()) {
        const message =
          `This cell was asked for by cell ${parent.number} of the same pythonRuntime, which waits for it while it waits ` +
          `for its turn as cell ${parent.number + 1}. Use another runtime, or run it when cell ${parent.number} has ended.`
        return { ...notStartedExecution(message), error: { kind: "refused", message } }
      }
      let started = false
      const run = async () => {
        started = true
        if (isTracking) await addDigests(kernel)
        const { keepCutValue } = executeOptions
        const keepName = keepCutValue && nameGenerator.nextName(keepCutValue.prefix, keepCutValue.reservedNames)
        return (await rules.refusalFor(code)) ?? kernel.execute(code, executeOptions, keepName)
      }
      try {
        const execution = await queue.enter(run, signal)
        for (const name of execution.changes.created) nameGenerator.markUsed(name)
        if (execution.ok && execution.kept !== undefined) nameGenerator.markUsed(execution.kept)
        return execution
      } catch (error) {
        if (started || !signal?.aborted) throw error
        return notStartedExecution("The cell was aborted before its turn came.")
      }
    },
    describe: (names) => whenIdle("describe()", () => describePython(names, kernel)),
    names: () => whenIdle("names()", () => readNames(kernel)),
    keep: (prefix, value) =>
      whenIdle("keep()", async () => {
        const name = nameGenerator.createName(prefix)
        await kernel.bind(new Map([[name, bindingOf(value)]]))
        return name
      }),
    forget: (names) =>
      whenIdle("forget()", async () => {
        await kernel.ask("forget", { names })
        kernel.knownNames.recordChanges({ created: [], reassigned: [], removed: [...names] })
      }),
    async trackInjected() {
      throwIfClosed("trackInjected()")
      isTracking = true
    },
    snapshot: (limit) =>
      whenIdle("snapshot()", () => takeSnapshot(kernel, snapshotBytes(options.maxSnapshotBytes, limit), hostState)),
    restore: (snapshot) => whenIdle("restore()", () => restoreSnapshot(snapshot, kernel, hostState)),
    async fork() {
      const snapshot = await whenIdle("fork()", () => takeSnapshot(kernel, Number.POSITIVE_INFINITY))
      const newBindings = rebindAll(kernel.bindings, await hostState.copy(kernel.bindings))
      const other = pythonRuntime(newBindings, options)
      for (const file of kernel.loadedFiles) await other.load?.(file)
      if (isTracking) await other.trackInjected?.()
      const restored = () => other.restore?.({ ...snapshot, exact: true }) ?? Promise.resolve([])
      return Object.assign(other, { notCopied: await whenIdle("fork()", restored) })
    },
    reset: () =>
      whenIdle("reset()", async () => {
        if (isAskedByCell()) {
          throw new ConfigError(
            "reset() would take the names from under the cell that calls it. Reset when it has ended.",
          )
        }
        await kernel.endKernel()
      }),
    async close() {
      if (closed) return closing
      closed = true
      queue.refuse(closedRuntimeError("pythonRuntime", "The cell"))
      kernel.cell?.stop("aborted", "The cell was aborted: its runtime was closed.", 0)
      closing = Promise.all([kernel.close(), rules.close()]).then(() => undefined)
      return closing
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  // The types of the bindings exist only at compile time.
  return checkingOptions(runtime) as PythonRuntime<B>
}

/** The bindings with each `py()` reference replaced by the type of the Python object it names. */
type ResolvedReferences<B extends Bindings> = {
  [K in keyof B]: B[K] extends PyReference<infer T> | { readonly value: PyReference<infer T> } | TypeReference<infer T>
    ? T
    : B[K]
}

type TypeReference<T> = { readonly kind: "type"; readonly type: PyReference<T> }

const optionChecks: check.OptionChecks<PythonRuntimeOptions> = {
  ...confinementChecks,
  python: mustBeNonEmptyText,
  setup: (value, path) =>
    typeof value === "string" ? undefined : check.mustBeOptions({ file: check.mustBeText })(value, path),
  limits: limitChecks(["memoryBytes", "processes", "cpuMs", "outputBytes"], { graceMs: check.mustBeIntegerFrom(0) }),
  maxSnapshotBytes: check.mustBeLimit(1),
  codecs: mustBeCodecs,
}

/** Lets the kernel compute the digests of values that were injected since the last cell. */
async function addDigests(kernel: KernelSupervisor): Promise<void> {
  await kernel.ensureStarted()
  const names = kernel.knownNames.takeNewlyInjected()
  // If the kernel dies, the next one gets all values again, and their digests with the next cell.
  if (names.length > 0) await kernel.ask("digests", { names }).catch(() => undefined)
}

async function retrieveValue(name: string, kernel: KernelSupervisor): Promise<unknown> {
  try {
    return await kernel.ask("retrieve", { name, whole: passingTablesToKernel.getStore() === true })
  } catch (error) {
    if (!(error instanceof PythonError)) throw error
    if (error.names) throw new ConfigError(unknownNameMessage(name, error.names))
    if (error.path === undefined) throw error
    throw new AgentError(`"${name}"${error.path} cannot cross to the host: ${error.message}.`, {
      code: "cannot-cross",
      details: { name, path: error.path },
      cause: error,
    })
  }
}

async function readNames(kernel: KernelSupervisor): Promise<RuntimeName[]> {
  const found = (await kernel.ask("names")) as (Omit<RuntimeName, "injected" | "size"> & { size: number | null })[]
  return found.map(({ name, kind, type, size }) => {
    const bound = kernel.knownNames.changed.has(name) ? undefined : kernel.bindings.get(name)
    const shown = bound?.kind === "agent" ? { kind: bound.kind, type: "Agent" } : { kind, type }
    const injected = kernel.bindings.has(name) || kernel.knownNames.setup.has(name)
    return { name, ...shown, injected, ...(size !== null && { size }) }
  })
}
