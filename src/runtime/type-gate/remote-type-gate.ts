import { types } from "node:util"
import type { NameChanges } from "../../core/event.ts"
import { findMember } from "../bindings/method-guards.ts"
import type { Binding } from "../bindings.ts"
import { type AnyNode, CellSyntaxError, type ParsedCell, parseCell, walk } from "../compiler/parse-cell.ts"
import { analyseScope } from "../compiler/scope-analysis.ts"
import { handlesAsAny } from "../declare/remote-type.ts"
import type { ShapeQuery } from "../process/remote-shapes.ts"
import type { CellExecution, CellNotExecuted, RuntimeName, TypeGateMode } from "../runtime.ts"
import { createTypeGate } from "../type-gate.ts"
import { memberKey, unwrapNode } from "./cell-tree.ts"

/** The type gate of a runtime whose values are in another process. */
export interface RemoteTypeGate {
  /** Runs a cell that passes, and adds the hints to its execution. */
  checkAndRun(code: string, mode: TypeGateMode | undefined, run: () => Promise<CellExecution>): Promise<CellExecution>
}

export interface RemoteNamespace {
  describe(): Promise<string>
  names(): Promise<readonly RuntimeName[]>
  /** Looks at what cells find under names, and at members of members of it. */
  queryShapes(wanted: ShapeQuery): Promise<RemoteShapes>
  /** What was injected, as it was given. */
  bindings: ReadonlyMap<string, Binding>
  ambient: ReadonlySet<string>
}

export interface RemoteShapes {
  /** For each name that something can be seen of, what has the same members. */
  values: ReadonlyMap<string, unknown>
  /** The names that stand for objects of the host, with these. */
  handles: ReadonlyMap<string, object>
}

export function createRemoteTypeGate(remote: RemoteNamespace): RemoteTypeGate {
  const gate = createTypeGate()
  // Stands for the value of a name: another one each time a cell has changed it.
  const versions = new Map<string, object>()

  const note = ({ created, reassigned, removed }: NameChanges) => {
    for (const name of [...created, ...reassigned]) versions.set(name, {})
    for (const name of removed) versions.delete(name)
  }

  const valuesNow = async (): Promise<Map<string, unknown>> => {
    const names = await remote.names()
    for (const { name } of names) if (!versions.has(name)) versions.set(name, {})
    return new Map(names.map(({ name }) => [name, versions.get(name)]))
  }

  return {
    async checkAndRun(code, mode = "off", run) {
      const cell = mode === "off" ? undefined : parseOrUndefined(code)
      if (!cell) {
        const execution = await run()
        note(execution.changes)
        return execution
      }
      await gate.open()
      const values = await valuesNow()
      const sights = await remote.queryShapes(shapesNeededBy(cell, values))
      // Of data that crossed, only what its author said is certain.
      const guessed = [...remote.bindings].flatMap(([name, binding]) =>
        binding.kind === "variable" && binding.type === undefined && !sights.handles.has(name) ? [name] : [],
      )
      const verdict = gate.check(cell, mode, {
        declarations: handlesAsAny(await remote.describe()),
        inferredNames: new Set(guessed),
        values,
        liveValues: sights.values,
        promiseMethods: new Map([...sights.handles].map(([name, value]) => [name, methodsOf(value)])),
        ambient: remote.ambient,
      })
      const { error, hints } = verdict
      const withHints = (execution: CellExecution): CellExecution =>
        hints.length > 0 ? { ...execution, hints: [...hints, ...(execution.hints ?? [])] } : execution
      if (error) return withHints(refusedExecution(error))
      const execution = await run()
      note(execution.changes)
      // A process that was started again has only what was injected.
      if (execution.lost) versions.clear()
      else verdict.rememberTypes(await valuesNow())
      return withHints(execution)
    },
  }
}

/** The names of the namespace that a cell mentions, with the members of members that it asks them for. */
function shapesNeededBy(cell: ParsedCell, values: ReadonlyMap<string, unknown>): ShapeQuery {
  const wanted: ShapeQuery = Object.create(null)
  const { references } = analyseScope(cell)
  const enter = (node: AnyNode): ShapeQuery | undefined => {
    const inner = unwrapNode(node)
    if (inner.type === "Identifier") {
      const free = references.get(inner)
      return free && !free.declaration && values.has(inner.name) ? queryMember(wanted, inner.name) : undefined
    }
    const key = inner.type === "MemberExpression" ? memberKey(inner) : undefined
    const holder = inner.type === "MemberExpression" && key !== undefined ? enter(inner.object) : undefined
    return holder && key !== undefined ? queryMember(holder, key) : undefined
  }
  walk(cell.program, (node) => void ((node.type === "Identifier" || node.type === "MemberExpression") && enter(node)), {
    types: false,
  })
  return wanted
}

function queryMember(holder: ShapeQuery, name: string): ShapeQuery | undefined {
  if (name === "__proto__") return undefined
  holder[name] ??= Object.create(null)
  return holder[name]
}

function methodsOf(value: object): { has(method: string): boolean } {
  return { has: (method) => !types.isProxy(value) && typeof findMember(value, method)?.value === "function" }
}

/** What is no TypeScript is told where it is compiled. */
function parseOrUndefined(code: string): ParsedCell | undefined {
  try {
    return parseCell(code)
  } catch (error) {
    if (error instanceof CellSyntaxError) return undefined
    throw error
  }
}

function refusedExecution(error: CellNotExecuted["error"]): CellNotExecuted {
  const changes = { created: [], reassigned: [], removed: [] }
  return { ok: false, error, stdout: "", stderr: "", output: "", durationMs: 0, changes }
}
