import { mustBePositive, type OptionChecks } from "../core/checks/check-options.ts"
import { AgentError, ConfigError, UnsupportedError } from "../core/errors.ts"
import { createNameGenerator } from "./bindings/binding-names.ts"
import { type Bindings, rebindAll } from "./bindings.ts"
import { createCellQueue } from "./cell-queue.ts"
import { bindingOf } from "./handles/peer-objects.ts"
import { createHostObjectState } from "./host-object-state.ts"
import { notStartedExecution } from "./js/execute-cell.ts"
import { resolveIsolation } from "./process/bubblewrap.ts"
import { createWorkingFolder } from "./process/working-folder.ts"
import { PythonError } from "./python/cell-report.ts"
import { describePython } from "./python/describe-python.ts"
import { createKernelSupervisor, type KernelSupervisor } from "./python/kernel/kernel-supervisor.ts"
import type { SandboxOptions } from "./python/kernel/sandbox-command.ts"
import type { PyReference } from "./python/py-reference.ts"
import { checkNewBindings, checkUpdatedBindings } from "./python/python-bindings.ts"
import { currentCell } from "./python/python-cell.ts"
import { unknownNameMessage } from "./python/python-names.ts"
import { restoreSnapshot, takeSnapshot } from "./python/python-snapshot.ts"
import { createCellRuleCheck } from "./python/rules/cell-rule-check.ts"
import { passingTablesToKernel } from "./python/tables/table-transfer.ts"
import { refuseUnsupportedEnv } from "./remote-env.ts"
import type { Rule } from "./rules/rules.ts"
import { type Runtime, type RuntimeName, snapshotBytes, type TypedRuntime } from "./runtime.ts"
import {
  checkRuntimeOptions,
  confinementChecks,
  runtimeLimitChecks as limitChecks,
  mustBeCodecs,
  mustBeNonEmptyText,
} from "./runtime-options.ts"
import { validateRetrieved } from "./schema.ts"
import type { Codecs } from "./snapshot/codec.ts"

export { type KeywordArguments, kwargs, type PyReference, py } from "./python/py-reference.ts"
export { safePythonRules } from "./python/rules/python-checker.ts"
export { table } from "./python/tables/table.ts"

export interface PythonRuntimeOptions extends SandboxOptions {
  /** The interpreter. Default: `KARST_PYTHON`, the active virtual environment, then the first on PATH that has ipykernel. */
  python?: string | undefined
  /** Python code, or a file of it, that is run whenever a kernel starts. What it defines counts as injected. */
  setup?: string | { file: string } | undefined
  /** Where cells run. Default: a folder of the kernel's own, which is removed with it. */
  cwd?: string | undefined
  /** What keeps cells from the host: a process of their own, or also bubblewrap. `os` fails where that cannot be had,
   *  `auto` does without. Default `process`. */
  isolation?: "process" | "os" | "auto" | undefined
  limits?: PythonLimits | undefined
  /** Variables of the kernel's environment, which is otherwise empty but for what Python needs. */
  env?: Record<string, string | undefined> | undefined
  /** What cells must not do; with rules, IPython's own syntax (`!ls`, `%magic`) is refused too. Default: no rules. */
  rules?: readonly Rule[] | undefined
  /** The largest names are left out of a snapshot that would have more bytes. Default 16 MiB. */
  maxSnapshotBytes?: number | undefined
  /** How the state of your instances, which stay on the host, goes into snapshots, by a name of your choice. Default: it is
   *  lost and reported. */
  codecs?: Codecs | undefined
  /** Told of each warning as it comes. */
  onWarning?: ((message: string) => void) | undefined
}

export interface PythonRuntime<B extends Bindings> extends TypedRuntime<ResolvedReferences<B>> {
  /** What could not be as it was asked for. */
  readonly warnings: readonly string[]
}

export interface PythonLimits {
  /** What the kernel and its children may hold in memory. Default 4096. */
  memoryMb?: number | undefined
  /** How many processes there may be of the kernel and its children. Default 512. */
  processes?: number | undefined
  /** Processor time of one cell. Default: none. */
  cpuMs?: number | undefined
  /** What one cell may print and show. Default 16 million. */
  outputBytes?: number | undefined
  /** How long a cell may take to stop when it is interrupted, before its kernel is ended. Default 1000. */
  graceMs?: number | undefined
}

/** Runs Python in a real Jupyter kernel of its own process. Data crosses by copy; functions and objects with behaviour stay
 *  where they are, on either side, and are used from the other. The kernel starts at first use, and again after it died:
 *  what was injected is then bound again, and the execution tells what is lost. */
export function pythonRuntime<B extends Bindings = Record<never, never>>(
  bindings?: B,
  options: PythonRuntimeOptions = {},
): PythonRuntime<B> {
  checkRuntimeOptions("pythonRuntime", options, optionChecks)
  const { limits = {}, setup, isolation: wanted, python, env, network, read, write, codecs = {} } = options
  const cwd = options.cwd === undefined ? undefined : createWorkingFolder(options.cwd).path()
  const { memoryMb = 4096, processes = 512, cpuMs, outputBytes = 16_000_000, graceMs = 1000 } = limits
  const warnings: string[] = []
  const isolation = resolveIsolation("pythonRuntime", wanted, (message) => {
    warnings.push(message)
    options.onWarning?.(message)
  })
  const rules = createCellRuleCheck(python, options.rules ?? [])
  const hostState = createHostObjectState(codecs)
  const session = createKernelSupervisor({
    launch: { python, cwd, env, memoryMb, isolation, network, read, write },
    limits: { memoryMb, processes, cpuMs, outputBytes, graceMs },
    setup,
    codecs,
  })
  const queue = createCellQueue()
  const maker = createNameGenerator((name) => session.known.all.has(name))
  let closed = false
  let closing: Promise<void> | undefined

  for (const [name, binding] of checkNewBindings(bindings ?? {}, session)) session.bindings.set(name, binding)

  const closedError = (use: string) =>
    new AgentError(`${use} came too late: this pythonRuntime is closed. Make another one with pythonRuntime().`, {
      code: "closed",
    })
  const open = (use: string) => {
    if (closed) throw closedError(use)
  }
  /** Whether a running cell of this runtime asked for what happens. */
  const isAsked = () => {
    const parent = currentCell.getStore()
    return parent?.runtime === session && !parent.isOver
  }
  /** In turn with cells; at once for what a running cell asks its host to do, because it waits for that. */
  const inTurn = async <T>(use: string, job: () => Promise<T>): Promise<T> => {
    open(use)
    return isAsked() ? job() : queue.enter(job)
  }

  const runtime: Runtime & { warnings: readonly string[] } = {
    language: "python",
    isolation,
    warnings,
    inject: (given) =>
      inTurn("inject()", async () => {
        const checked = checkNewBindings(given, session)
        await session.bind(checked)
        for (const [name, binding] of checked) {
          session.bindings.set(name, binding)
          maker.markUsed(name)
        }
      }),
    load: (file) => inTurn("load()", () => session.loadFile(file)),
    writable: () => [cwd, session.folder, ...(write ?? [])].filter((folder) => folder !== undefined),
    update: (values) =>
      inTurn("update()", async () => {
        const changes = checkUpdatedBindings(values, await readNames(session), session)
        await session.bind(changes)
        for (const [name, binding] of changes) if (session.bindings.has(name)) session.bindings.set(name, binding)
      }),
    async retrieve(name, schema) {
      return validateRetrieved(name, await inTurn("retrieve()", () => retrieveValue(name, session)), schema)
    },
    async execute(code, executeOptions = {}) {
      open("execute()")
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
      if (parent?.runtime === session && !parent.isOver) {
        const message =
          `This cell was asked for by cell ${parent.number} of the same pythonRuntime, which waits for it while it waits ` +
          `for its turn as cell ${parent.number + 1}. Use another runtime, or run it when cell ${parent.number} has ended.`
        return { ...notStartedExecution(message), error: { kind: "refused", message } }
      }
      let started = false
      const run = async () => {
        started = true
        return (await rules.refusalFor(code)) ?? session.execute(code, executeOptions)
      }
      try {
        const execution = await queue.enter(run, signal)
        for (const name of execution.changes.created) maker.markUsed(name)
        return execution
      } catch (error) {
        if (started || !signal?.aborted) throw error
        return notStartedExecution("The cell was aborted before its turn came.")
      }
    },
    describe: (names) => inTurn("describe()", () => describePython(names, session)),
    names: () => inTurn("names()", () => readNames(session)),
    keep: (prefix, value) =>
      inTurn("keep()", async () => {
        const name = maker.createName(prefix)
        await session.bind(new Map([[name, bindingOf(value)]]))
        return name
      }),
    snapshot: (limit) =>
      inTurn("snapshot()", () => takeSnapshot(session, snapshotBytes(options.maxSnapshotBytes, limit), hostState)),
    restore: (snapshot) => inTurn("restore()", () => restoreSnapshot(snapshot, session, hostState)),
    async fork() {
      const snapshot = await inTurn("fork()", () => takeSnapshot(session, Number.POSITIVE_INFINITY))
      const given = rebindAll(session.bindings, await hostState.copy(session.bindings))
      const other = pythonRuntime(given, options)
      for (const file of session.loadedFiles) await other.load?.(file)
      await inTurn("fork()", () => other.restore?.(snapshot) ?? Promise.resolve([]))
      return other
    },
    reset: () =>
      inTurn("reset()", async () => {
        if (isAsked()) {
          throw new ConfigError(
            "reset() would take the names from under the cell that calls it. Reset when it has ended.",
          )
        }
        await session.endKernel()
      }),
    async close() {
      if (closed) return closing
      closed = true
      queue.refuse(closedError("The cell"))
      session.cell?.stop("aborted", "The cell was aborted: its runtime was closed.", 0)
      closing = Promise.all([session.close(), rules.close()]).then(() => undefined)
      return closing
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  // The types of what was put in are known here and nowhere else; at run time a runtime is a runtime.
  return runtime as PythonRuntime<B>
}

/** What `py()` names is not the reference, but what it leads to. */
type ResolvedReferences<B extends Bindings> = {
  [K in keyof B]: B[K] extends PyReference<infer T> | { readonly value: PyReference<infer T> } | TypeReference<infer T>
    ? T
    : B[K]
}

type TypeReference<T> = { readonly kind: "type"; readonly type: PyReference<T> }

const optionChecks: OptionChecks<PythonRuntimeOptions> = {
  ...confinementChecks,
  python: mustBeNonEmptyText,
  setup: (value) => {
    const code = typeof value === "object" && value !== null && "file" in value ? value.file : value
    return typeof code === "string" ? undefined : "is neither Python code nor { file }"
  },
  limits: limitChecks(["memoryMb", "processes", "cpuMs", "outputBytes"], ["graceMs"]),
  maxSnapshotBytes: mustBePositive,
  codecs: mustBeCodecs,
}

async function retrieveValue(name: string, session: KernelSupervisor): Promise<unknown> {
  try {
    return await session.ask("retrieve", { name, whole: passingTablesToKernel.getStore() === true })
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

async function readNames(session: KernelSupervisor): Promise<RuntimeName[]> {
  const found = (await session.ask("names")) as (Omit<RuntimeName, "injected" | "size"> & { size: number | null })[]
  return found.map(({ name, kind, type, size }) => {
    const bound = session.known.changed.has(name) ? undefined : session.bindings.get(name)
    const told = bound?.kind === "agent" ? { kind: bound.kind, type: "Agent" } : { kind, type }
    const injected = session.bindings.has(name) || session.known.setup.has(name)
    return { name, ...told, injected, ...(size !== null && { size }) }
  })
}
