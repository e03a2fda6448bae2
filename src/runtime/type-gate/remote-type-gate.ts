// The type gate of a runtime whose values live in another process.
import { types } from "node:util"
import type { NameChanges } from "../../core/event.ts"
import { findMember } from "../bindings/method-guards.ts"
import type { Binding } from "../bindings.ts"
import { type AnyNode, CellSyntaxError, type ParsedCell, parseCell, walk } from "../compiler/parse-cell.ts"
import { analyseScope } from "../compiler/scope-analysis.ts"
import { handlesAsAny } from "../declare/remote-type.ts"
import { notStartedExecution } from "../js/execute-cell.ts"
import type { ShapeQuery } from "../process/remote-shapes.ts"
import type { CellExecution, RuntimeName, TypeGateMode } from "../runtime.ts"
import { createTypeGate } from "../type-gate.ts"
import { memberKey, unwrapNode } from "./cell-tree.ts"

export interface RemoteTypeGate {
  /** Runs the cell if it passes the check, and adds the hints to its execution. */
  checkAndRun(code: string, mode: TypeGateMode | undefined, run: () => Promise<CellExecution>): Promise<CellExecution>
}

export interface RemoteNamespace {
  describe(): Promise<string>
  names(): Promise<readonly RuntimeName[]>
  /** Reads the shapes of names and their members from the other process. */
  queryShapes(query: ShapeQuery): Promise<RemoteShapes>
  /** The injected values. */
  bindings: ReadonlyMap<string, Binding>
  ambient: ReadonlySet<string>
}

export interface RemoteShapes {
  /** For each inspected name, an object with the same members. */
  values: ReadonlyMap<string, unknown>
  /** The names that refer to objects of the host, with these objects. */
  handles: ReadonlyMap<string, object>
}

export function createRemoteTypeGate(remote: RemoteNamespace): RemoteTypeGate {
  const gate = createTypeGate()
  // A placeholder for the value of each name, replaced whenever a cell changes the name.
  const versions = new Map<string, object>()

  const recordChanges = ({ created, reassigned, removed }: NameChanges) => {
    for (const name of [...created, ...reassigned]) versions.set(name, {})
    for (const name of removed) versions.delete(name)
  }

  const currentValues = async (): Promise<Map<string, unknown>> => {
    const names = await remote.names()
    for (const { name } of names) if (!versions.has(name)) versions.set(name, {})
    return new Map(names.map(({ name }) => [name, versions.get(name)]))
  }

  return {
    async checkAndRun(code, mode = "off", run) {
      const cell = mode === "off" ? undefined : parseOrUndefined(code)
      if (!cell) {
        const execution = await run()
        recordChanges(execution.changes)
        return execution
      }
      await gate.open()
      const values = await currentValues()
      const shapes = await remote.queryShapes(shapesNeededBy(cell, values))
      // For data that was copied to the other process, only written types are certain.
      const inferredNames = [...remote.bindings].flatMap(([name, binding]) =>
        binding.kind === "variable" && binding.type === undefined && !shapes.handles.has(name) ? [name] : [],
      )
      const verdict = gate.check(cell, mode, {
        declarations: handlesAsAny(await remote.describe()),
        inferredNames: new Set(inferredNames),
        values,
        liveValues: shapes.values,
        promiseMethods: new Map([...shapes.handles].map(([name, value]) => [name, methodsOf(value)])),
        ambient: remote.ambient,
      })
      const { error, hints } = verdict
      const withHints = (execution: CellExecution): CellExecution =>
        hints.length > 0 ? { ...execution, hints: [...hints, ...(execution.hints ?? [])] } : execution
      if (error) return withHints({ ...notStartedExecution(error.message), error })
      const execution = await run()
      recordChanges(execution.changes)
      // A restarted process has only the injected names.
      if (execution.lost) versions.clear()
      else verdict.rememberTypes(await currentValues())
      return withHints(execution)
    },
  }
}

/** Returns the names of the namespace that a cell mentions, with the members that it uses. */
function shapesNeededBy(cell: ParsedCell, values: ReadonlyMap<string, unknown>): ShapeQuery {
  const query: ShapeQuery = Object.create(null)
  const { references } = analyseScope(cell)
  const queryNode = (node: AnyNode): ShapeQuery | undefined => {
    const inner = unwrapNode(node)
    if (inner.type === "Identifier") {
      const reference = references.get(inner)
      return reference && !reference.declaration && values.has(inner.name) ? queryMember(query, inner.name) : undefined
    }
    const key = inner.type === "MemberExpression" ? memberKey(inner) : undefined
    const holder = inner.type === "MemberExpression" && key !== undefined ? queryNode(inner.object) : undefined
    return holder && key !== undefined ? queryMember(holder, key) : undefined
  }
  const visit = (node: AnyNode) => {
    if (node.type === "Identifier" || node.type === "MemberExpression") queryNode(node)
  }
  walk(cell.program, visit, { types: false })
  return query
}

function queryMember(holder: ShapeQuery, name: string): ShapeQuery | undefined {
  if (name === "__proto__") return undefined
  holder[name] ??= Object.create(null)
  return holder[name]
}

function methodsOf(value: object): { has(method: string): boolean } {
  return { has: (method) => !types.isProxy(value) && typeof findMember(value, method)?.value === "function" }
}

/** Returns undefined for a syntax error, which the compiler reports later. */
function parseOrUndefined(code: string): ParsedCell | undefined {
  try {
    return parseCell(code)
  } catch (error) {
    if (error instanceof CellSyntaxError) return undefined
    throw error
  }
}
