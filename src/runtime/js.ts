import { AgentError, ConfigError } from "../core/errors.ts"
import type { Bindings } from "./bindings.ts"
import { createAmbient } from "./cells/cell-env.ts"
import { cellFilename } from "./cells/errors.ts"
import { executeCell, notStarted } from "./cells/execute.ts"
import { createGuard } from "./cells/guard.ts"
import { createNamespace } from "./cells/namespace.ts"
import { createQueue } from "./cells/queue.ts"
import { CellStopped, RunningCell, running, type Shared } from "./cells/running-cell.ts"
import { watchStrays } from "./cells/strays.ts"
import { createTimers } from "./cells/timers.ts"
import { declare } from "./declare/declare.ts"
import type { Rule } from "./rules/rules.ts"
import type { ExecuteOptions, Runtime, TypedRuntime } from "./runtime.ts"
import { validate } from "./schema.ts"

export interface JsRuntimeOptions {
  /** What cells must not do. Default: no rules. */
  rules?: readonly Rule[] | undefined
  /** Where `import` looks for files and packages. Default: where the program was started. */
  cwd?: string | undefined
}

/** Runs TypeScript in this very process: cells work on the same objects as the host, with no copy and no boundary.
 *  For code you trust. A time-out or abort gives the execution its result at once and stops the cell at the next loop,
 *  function call or await; only a built-in that blocks (a regular expression, a huge sort) runs to its end. */
export function jsRuntime<B extends Bindings = Record<never, never>>(
  bindings?: B,
  options: JsRuntimeOptions = {},
): TypedRuntime<B> {
  const { rules = [], cwd = process.cwd() } = options
  const number = ++runtimes
  let cellCount = 0
  let closed = false
  let endWatch: (() => void) | undefined

  const shared: Shared = {
    cells: new Set(),
    gate: undefined,
    late: [],
    lateLength: 0,
    epoch: 0,
    onStop(cell) {
      guard.watch(cell)
      timers.clear(cell)
    },
  }
  const guard = createGuard()
  const queue = createQueue()
  const timers = createTimers(shared)
  const ambient = createAmbient({ shared, timers, cwd, scope: () => namespace.scope })
  const ambientNames = new Set(Object.keys(ambient))
  const namespace = createNamespace(ambientNames, shared)
  const place = { namespace, ambient, ambientNames, guard, rules }
  if (bindings) namespace.inject(bindings)

  const closedError = (use: string) =>
    new AgentError(`${use} came too late: this jsRuntime is closed. Make another one with jsRuntime().`, {
      code: "closed",
    })
  const open = (use: string) => {
    if (closed) throw closedError(use)
    return namespace
  }

  const runCell = async (code: string, parent: RunningCell | undefined, executeOptions: ExecuteOptions) => {
    endWatch ??= watchStrays()
    timers.hold(true)
    // What the last cell left on the counter is not for this one.
    guard.left = 0
    const cell = new RunningCell(shared, parent, executeOptions)
    try {
      return await executeCell(code, cellFilename(number, ++cellCount), cell, place)
    } finally {
      if (shared.cells.size === 0) timers.hold(false)
    }
  }

  const runtime: Runtime = {
    language: "typescript",
    isolation: "none",
    async inject(more) {
      open("inject()").inject(more)
    },
    async update(values) {
      open("update()").update(values)
    },
    async retrieve(name, schema) {
      const value = open("retrieve()").retrieve(name)
      if (schema === undefined) return value
      const validation = await validate(schema, value)
      if (validation.ok) return validation.value
      throw new AgentError(`"${name}" is not what the schema asks for: ${validation.message}`, {
        code: "invalid-value",
      })
    },
    async execute(code, executeOptions = {}) {
      open("execute()")
      const { signal } = executeOptions
      const parent = running.getStore()
      // A cell that waits for this one must not keep it waiting.
      if (parent?.isWithin(shared.cells)) return runCell(code, parent, executeOptions)
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
      const { described } = open("describe()")
      return declare(described(names), described(undefined))
    },
    async names() {
      return open("names()").names()
    },
    async keep(prefix, value) {
      return open("keep()").keep(prefix, value)
    },
    async reset() {
      open("reset()")
      if (running.getStore()?.isWithin(shared.cells)) {
        throw new ConfigError(
          "reset() would take the names from under the cell that calls it. Reset when it has ended.",
        )
      }
      await queue.enter(async () => {
        shared.epoch++
        shared.late.length = shared.lateLength = 0
        timers.clear()
        namespace.reset()
      })
    },
    async close() {
      if (closed) return
      closed = true
      queue.refuse(closedError("The cell"))
      for (const cell of shared.cells)
        cell.stop(new CellStopped("aborted", "The cell was aborted: its runtime was closed."))
      shared.epoch++
      timers.clear()
      endWatch?.()
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  // The types of what was put in are known here and nowhere else; at run time a runtime is a runtime.
  return runtime as TypedRuntime<B>
}

let runtimes = 0
