import { Script } from "node:vm"
import { cellHelpers } from "./cell-helpers.ts"
import {
  ambientVariable,
  guardVariable,
  helpersVariable,
  isConstantKind,
  reservedPrefixes,
  scopeVariable,
} from "./name-storage.ts"
import { CellSyntaxError, type ParsedCell, toCellSyntaxError, walk } from "./parse-cell.ts"
import { type RewrittenCell, rewriteCell } from "./rewrite/rewrite-cell.ts"
import { analyseScope } from "./scope-analysis.ts"
import { offsetAt, type Position, positionAt } from "./text-positions.ts"

/** What generated code may reach by name besides the namespace; see `cell-env.ts`. One per runtime, stable for life. */
export type Ambient = Record<string, unknown>

/** The namespace: every name a cell declares or uses lives here as a property. Reading a name it does not have throws a
 *  `ReferenceError`. */
export type Scope = Record<string, unknown>

/** Which names a namespace has. */
export type KnownNames = Pick<ReadonlySet<string>, "has">

/** Stops cells that are out of time or aborted. `left` counts down at loop heads and function entries; below zero the
 *  code calls `tick`, which throws when the running cell must stop and refills `left` otherwise. */
export interface LoopGuard {
  left: number
  tick(): void
  /** Passes an awaited value through, unless the cell that awaited it must stop. */
  resume<T>(value: T): T
  /** Passes a value through that decides something, unless it is a remote member that was not awaited. */
  value<T>(value: T): T
  /** Passes an object through whose fields are compared with null or undefined, unless it is remote. */
  fields<T>(value: T): T
  /** Throws if a value that a default value could have replaced is a remote member that was not awaited. */
  defaults(...values: unknown[]): void
  /** Passes a default value through, which may be a remote member. */
  chosen<T>(value: T): T
  /** The value before `?.`: a remote member that was not awaited stands for undefined, with everything after it, where it
   *  is null or undefined. */
  optional(value: unknown): unknown
  /** The object of `object.method?.()`: its remote members are such values. */
  optionalMethods(value: unknown): unknown
}

export interface CompiledCell {
  /** Runs the cell once. Resolves to the trailing expression's value, awaited, or undefined when there is none. */
  run(scope: Scope, ambient: Ambient, guard: LoopGuard): Promise<unknown>
  /** Whether the cell ends in an expression, so that an `undefined` value is one. */
  hasValue: boolean
  /** Names this cell declares at its top level. */
  declares: readonly string[]
  /** The subset that a later cell cannot assign to: those declared with `const`, `using` or `import`. */
  constants: readonly string[]
  /** The place in the cell's own text of a place in a stack. The line is the same, the column seldom. */
  locate(position: Position): Position
}

export interface CompileOptions {
  /** Shown in stacks, such as `cell-3.ts`. */
  filename: string
  /** Names in the namespace when the cell starts. */
  known: KnownNames
  /** Names among them that may not be assigned to, only declared again. */
  constants: ReadonlySet<string>
  /** Names that resolve to `ambient`. */
  ambient: ReadonlySet<string>
  /** Whether conditions and equalities pass `guard.value`. */
  checksValues?: boolean | undefined
}

/** Compiles a cell for the realm it is called in. Throws a `CellSyntaxError` for what a cell cannot contain.
 *
 *  Every name a cell declares at its top level is a property of the scope and every use of it reads that property, so
 *  that cells may declare names again and functions of earlier cells see it. Until its declaration runs, such a name
 *  has the value of the earlier cell. What a name means that no cell has declared yet (a global, an ambient name or one
 *  of the scope) is decided when the cell is compiled. Imports copy the exports' values. An error that leaves the cell
 *  speaks of the cell's own code, but its stack has to go through `locate`. */
export function compileCell(cell: ParsedCell, options: CompileOptions): CompiledCell {
  refuseReservedNames(cell)
  const { code } = cell
  const { output, prologue, hasValue } = rewriteOrRefuse(cell, options)
  const start = functionStart + prologue
  const text = `${start}${output.text()}\n})`
  const locate = (position: Position) => {
    return positionAt(code, output.sourceOffset(offsetAt(text, position) - start.length))
  }
  const main = loadCellFunction(text, options.filename, locate)
  const declarations = [...(analyseScope(cell).cell.names?.values() ?? [])]
  return {
    run: (scope, ambient, guard) => main(scope, ambient, guard, cellHelpers).catch(rethrow),
    hasValue,
    declares: declarations.map(({ name }) => name),
    constants: declarations.filter(({ kind }) => isConstantKind(kind)).map(({ name }) => name),
    locate,
  }
}

function rethrow(thrown: unknown): never {
  throw cellHelpers.caught(thrown)
}

function rewriteOrRefuse(cell: ParsedCell, options: CompileOptions): RewrittenCell {
  try {
    return rewriteCell(cell, options)
  } catch (error) {
    throw toCellSyntaxError(error)
  }
}

type CellFunction = (scope: Scope, ambient: Ambient, guard: LoopGuard, helpers: typeof cellHelpers) => Promise<unknown>

// In parentheses, so that the engine compiles it at once instead of looking it over first.
const functionStart = `(async function(${scopeVariable},${ambientVariable},${guardVariable},${helpersVariable}){"use strict";`

function loadCellFunction(text: string, filename: string, locate: CompiledCell["locate"]): CellFunction {
  try {
    return evaluate(`${text}\n//# sourceURL=${filename}`)
  } catch {
    // Nothing of the cell has run: this is only the function. A script says where the engine found something wrong, and
    // works where a program forbids its strings to become code.
    return loadScript(text, filename, locate)
  }
}

// As a value, so that it sees none of our names. Not a `Script`, of each of which the engine keeps a kilobyte for ever.
// biome-ignore lint/security/noGlobalEval: running code is what cells are for.
const evaluate: (text: string) => CellFunction = globalThis.eval

function loadScript(text: string, filename: string, locate: CompiledCell["locate"]): CellFunction {
  try {
    return new Script(text, filename).runInThisContext()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw toCellSyntaxError(error)
    // What the parser let through and the engine refuses; it shows the line and marks the column below.
    const [first = "", , marker = ""] = (error.stack ?? "").split("\n")
    const line = Number(first.slice(filename.length + 1))
    throw new CellSyntaxError(error.message, locate({ line, column: marker.indexOf("^") + 1 }))
  }
}

/** Nothing in a cell may reach what is meant for generated code. */
function refuseReservedNames({ code, program }: ParsedCell): void {
  if (!code.includes("$$") && !code.includes("\\u")) return
  walk(program, (node) => {
    if (node.type !== "Identifier" || !reservedPrefixes.some((name) => node.name.startsWith(name))) return
    throw new CellSyntaxError(`The name ${node.name} is reserved; choose another`, positionAt(code, node.start))
  })
}
