import type { Console } from "node:console"
import Module from "node:module"
import { join, resolve } from "node:path"
import nodeTimers from "node:timers"
import type { Ambient, Scope } from "../../compiler/compile-cell.ts"
import { recordCallingCell } from "../cell-errors.ts"
import { cellStorage, type SharedCellState } from "../running-cell.ts"
import { createCellConsole } from "./cell-console.ts"
import { createCellProcess } from "./cell-process.ts"
import type { CellTimers } from "./cell-timers.ts"
import { cellDate, createCellCrypto, createCellMath, createCellPerformance } from "./clock-and-random.ts"

/** Where a cell's ambient world comes from. No global is patched: generated code reaches `Date`, `Math.random`,
 *  `crypto`, `fetch`, timers and `import()` only through this, so a durable run can record and replay them. */
export interface CellEnv {
  /** Milliseconds since the epoch, as `Date.now()`. */
  now(): number
  /** For a cell in another process, which cannot ask `now()` at each look: what its clock shows first, and where it tells
   *  what it has shown after that. Goes with `now`, and means the same. */
  clock: { recorded: readonly number[]; note(reads: readonly number[]): void }
  /** In [0, 1), as `Math.random()`; random ids and bytes are drawn from it when it is given. A cell in another process has
   *  its own, made from a few numbers of this one. */
  random(): number
  fetch: typeof globalThis.fetch
  /** Loads a module for `import`, resolved from the runtime's `cwd`. */
  import(specifier: string, options?: ImportCallOptions): Promise<unknown>
  /** What `process.env` shows. */
  variables: Record<string, string | undefined>
  /** Told by what the cell reaches past its bindings to the outside, such as `fetch` or `node:fs`: nobody records that. */
  onEffect(what: string): void
}

export interface AmbientOptions {
  shared: SharedCellState
  timers: CellTimers
  /** The namespace as it is now. */
  scope(): Scope
  cwd: string
}

/** The names a cell of one runtime finds besides its namespace. Each acts for the cell that is running when it is used,
 *  also when a closure of an earlier cell uses it. */
export function createAmbient({ shared, timers, scope, cwd }: AmbientOptions): Ambient {
  // Made when they are first used, and made anew after a reset: a cell may have changed them.
  const own = <T>(make: () => T) => lazy(make, () => shared.epoch)
  const consoleOf = own((): Console => createCellConsole(shared))
  const processOf = own(() => createCellProcess(shared, timers))
  const performanceOf = own(createCellPerformance)
  const cryptoOf = own(createCellCrypto)
  const importFrom = lazy(() => createImportFunction(cwd))
  const ownModules = new Map<string, () => object>([
    ["console", consoleOf],
    ["process", processOf],
    ["timers", () => ({ ...nodeTimers, ...timers.globals })],
  ])
  const ambient: Ambient = {
    get console() {
      return consoleOf()
    },
    get process() {
      return processOf()
    },
    get Date() {
      return cellDate()
    },
    get performance() {
      return performanceOf()
    },
    get crypto() {
      return cryptoOf()
    },
    Math: createCellMath(),
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
      const ownModule = ownModules.get(plainName)
      if (ownModule) return withDefaultExport(ownModule())
      if (outsideWorldModules.has(plainName)) cell?.env.onEffect?.(`node:${plainName}`)
      const calledAt = new Error()
      try {
        return await importFrom()(name, options)
      } catch (error) {
        throw recordCallingCell(error, calledAt)
      }
    },
  }
  ambient.globalThis = createCellGlobal(scope, ambient)
  ambient.global = ambient.globalThis
  return ambient
}

/** The modules of Node by which a program reaches the outside. */
const outsideWorldModules = new Set(
  "child_process cluster dgram dns fs fs/promises http http2 https net sqlite tls worker_threads".split(" "),
)

/** Undoes what cells did to it; the rest is made anew when it is next used. `Math` is a plain property, as it is used in
 *  the hottest loops. */
export function resetAmbient(ambient: Ambient): void {
  ambient.Math = createCellMath()
}

/** `globalThis` of a cell: reads the namespace, then what is ambient, then the real one; writes to the namespace only. */
function createCellGlobal(scope: () => Scope, ambient: Ambient): object {
  const holder = (key: PropertyKey) =>
    [scope(), ambient].find((candidate) => Object.hasOwn(candidate, key)) ?? globalThis
  return new Proxy(Object.create(null), {
    get: (_, key) => Reflect.get(key === "import" ? globalThis : holder(key), key),
    has: (_, key) => key in holder(key),
    set: (_, key, value) => Reflect.set(scope(), key, value),
    deleteProperty: (_, key) => Reflect.deleteProperty(scope(), key),
    // The namespace holds values, nothing that runs when it is read.
    defineProperty: (_, key, { value, get, set }) => !get && !set && Reflect.set(scope(), key, value),
    ownKeys: () => Reflect.ownKeys(scope()),
    getOwnPropertyDescriptor(_, key) {
      const descriptor = Reflect.getOwnPropertyDescriptor(holder(key), key)
      // What the proxy's own target does not have must be called configurable.
      return descriptor && { ...descriptor, configurable: true }
    },
  })
}

type ImportFunction = (specifier: string, options?: ImportCallOptions) => Promise<unknown>

/** `import()` as a module file in `cwd` would do it: only Node itself knows conditions, attributes and loaders. */
function createImportFunction(cwd: string): ImportFunction {
  const filename = join(resolve(cwd), "cell.cjs")
  // A true boundary: `_compile` is how loaders of other file types make modules; its types are not published.
  const module = new Module(filename) as Module & { _compile(code: string, filename: string): void }
  module._compile("module.exports = (specifier, options) => import(specifier, options)", filename)
  return module.exports as ImportFunction
}

/** An object in the place of the built-in module that has it as its default export. */
function withDefaultExport(value: object): object {
  return new Proxy(value, {
    get: (target, key) => (key === "default" ? target : Reflect.get(target, key)),
    has: (target, key) => key === "default" || key in target,
  })
}

function lazy<T>(make: () => T, version = () => 0): () => T {
  let made: { value: T; version: number } | undefined
  return () => {
    if (made?.version !== version()) made = { value: make(), version: version() }
    return made.value
  }
}
