// The ambient names of cells (`Date`, `fetch`, `process`, `import` …) and the environment they read from. No global is
// patched: cells reach these only through here, so that a durable run can record and replay them.
import type { Console } from "node:console"
import Module from "node:module"
import { join, resolve } from "node:path"
import nodeTimers from "node:timers"
import type { Ambient, Scope } from "../../compiler/compile-cell.ts"
import { recordCallingCell } from "../cell-errors.ts"
import { cellStorage, type SharedCellState } from "../running-cell.ts"
import { createCellConsole } from "./cell-console.ts"
import { finish } from "./cell-finish.ts"
import { createCellProcess } from "./cell-process.ts"
import type { CellTimers } from "./cell-timers.ts"
import { cellDate, createCellCrypto, createCellMath, createCellPerformance } from "./clock-and-random.ts"

/** Where a cell's time, randomness, network and modules come from. A part that is absent is the real one. */
export interface CellEnv {
  /** Milliseconds since the epoch, as `Date.now()`. */
  now(): number
  /** For a cell in another process, which cannot call `now()` at each read: `recorded` are the values its clock replays
   *  first, and `note` receives the values it read after that. Goes with `now`, and means the same. */
  clock: { recorded: readonly number[]; note(reads: readonly number[]): void }
  /** In [0, 1), as `Math.random()`; if given, random ids and bytes are made from it too. A cell in another process has
   *  its own generator, seeded with a few numbers of this one. */
  random(): number
  fetch: typeof globalThis.fetch
  /** Loads a module for `import`, resolved from the runtime's `cwd`. */
  import(specifier: string, options?: ImportCallOptions): Promise<unknown>
  /** The value of `process.env`. */
  variables: Record<string, string | undefined>
  /** Called when the cell reaches outside its bindings, such as by `fetch` or `node:fs`. Such effects are not
   *  recorded. */
  onEffect(what: string): void
}

export interface AmbientOptions {
  shared: SharedCellState
  timers: CellTimers
  /** The current namespace. */
  scope(): Scope
  cwd: string
}

/** The ambient names of one runtime. Each uses the environment of the cell that is running when it is used, also in a
 *  closure of an earlier cell. */
export function createAmbient({ shared, timers, scope, cwd }: AmbientOptions): Ambient {
  // Created at first use, and again after a reset, because a cell may have changed them.
  const renewed = <T>(create: () => T) => lazy(create, () => shared.epoch)
  const cellConsole = renewed((): Console => createCellConsole(shared))
  const cellProcess = renewed(() => createCellProcess(shared, timers))
  const cellPerformance = renewed(createCellPerformance)
  const cellCrypto = renewed(createCellCrypto)
  const importFromCwd = lazy(() => createImportFunction(cwd))
  const cellModules = new Map<string, () => object>([
    ["console", cellConsole],
    ["process", cellProcess],
    ["timers", () => ({ ...nodeTimers, ...timers.globals })],
  ])
  const ambient: Ambient = {
    get console() {
      return cellConsole()
    },
    get process() {
      return cellProcess()
    },
    get Date() {
      return cellDate()
    },
    get performance() {
      return cellPerformance()
    },
    get crypto() {
      return cellCrypto()
    },
    Math: createCellMath(),
    // The value of the last cell that had one. A cell that declares or assigns `_` has its own from then on.
    _: undefined,
    finish,
    ...timers.globals,
    fetch(...request: Parameters<typeof fetch>) {
      const cell = cellStorage.getStore()
      cell?.throwIfStopped()
      if (cell?.env.fetch) return cell.env.fetch(...request)
      cell?.env.onEffect?.("fetch")
      return fetch(...request)
    },
    async import(specifier: unknown, options?: ImportCallOptions) {
      const cell = cellStorage.getStore()
      cell?.throwIfStopped()
      const name = String(specifier)
      if (cell?.env.import) return cell.env.import(name, options)
      const plainName = name.replace(/^node:/, "")
      const cellModule = cellModules.get(plainName)
      if (cellModule) return withDefaultExport(cellModule())
      if (outsideWorldModules.has(plainName)) cell?.env.onEffect?.(`node:${plainName}`)
      const calledAt = new Error()
      try {
        return await importFromCwd()(name, options)
      } catch (error) {
        throw recordCallingCell(error, calledAt)
      }
    },
  }
  ambient.globalThis = createCellGlobal(scope, ambient)
  ambient.global = ambient.globalThis
  return ambient
}

/** Node's modules that reach files, network or processes. */
const outsideWorldModules = new Set(
  "child_process cluster dgram dns fs fs/promises http http2 https net sqlite tls worker_threads".split(" "),
)

/** Undoes what cells changed. `Math` is a plain property because hot loops use it; the other names are created again at
 *  their next use. */
export function resetAmbient(ambient: Ambient): void {
  ambient.Math = createCellMath()
  ambient._ = undefined
}

/** `globalThis` of a cell: reads the namespace, then ambient names, then the real one; writes only to the namespace. */
function createCellGlobal(scope: () => Scope, ambient: Ambient): object {
  const ownerOf = (key: PropertyKey) =>
    [scope(), ambient].find((candidate) => Object.hasOwn(candidate, key)) ?? globalThis
  return new Proxy(Object.create(null), {
    get: (_, key) => Reflect.get(key === "import" ? globalThis : ownerOf(key), key),
    has: (_, key) => key in ownerOf(key),
    set: (_, key, value) => Reflect.set(scope(), key, value),
    deleteProperty: (_, key) => Reflect.deleteProperty(scope(), key),
    // The namespace has values only, no getters or setters.
    defineProperty: (_, key, { value, get, set }) => !get && !set && Reflect.set(scope(), key, value),
    ownKeys: () => Reflect.ownKeys(scope()),
    getOwnPropertyDescriptor(_, key) {
      const descriptor = Reflect.getOwnPropertyDescriptor(ownerOf(key), key)
      // A proxy must report a property that its target lacks as configurable.
      return descriptor && { ...descriptor, configurable: true }
    },
  })
}

type ImportFunction = (specifier: string, options?: ImportCallOptions) => Promise<unknown>

/** `import()` as in a module file in `cwd`. Only Node itself knows conditions, attributes and loaders. */
function createImportFunction(cwd: string): ImportFunction {
  const filename = join(resolve(cwd), "cell.cjs")
  // `_compile` is how loaders of other file types create modules; its types are not published.
  const module = new Module(filename) as Module & { _compile(code: string, filename: string): void }
  module._compile("module.exports = (specifier, options) => import(specifier, options)", filename)
  return module.exports as ImportFunction
}

/** Presents an object as the built-in module whose default export it is. */
function withDefaultExport(value: object): object {
  return new Proxy(value, {
    get: (target, key) => (key === "default" ? target : Reflect.get(target, key)),
    has: (target, key) => key === "default" || key in target,
  })
}

function lazy<T>(create: () => T, version = () => 0): () => T {
  let cached: { value: T; version: number } | undefined
  return () => {
    if (cached?.version !== version()) cached = { value: create(), version: version() }
    return cached.value
  }
}
