// Compiles a parsed cell to a JavaScript function over the namespace, the ambient names and the loop guard.
import { Script } from "node:vm"
import { cellHelpers } from "./cell-helpers.ts"
import * as names from "./name-storage.ts"
import { CellSyntaxError, type ParsedCell, toCellSyntaxError, walk } from "./parse-cell.ts"
import { type RewrittenCell, rewriteCell } from "./rewrite/rewrite-cell.ts"
import { analyseScope } from "./scope-analysis.ts"
import { offsetAt, type Position, positionAt } from "./text-positions.ts"

/** The names that generated code can use besides the namespace; see `cell-env.ts`. One object per runtime. */
export type Ambient = Record<string, unknown>

/** The namespace: every name that a cell declares is a property of it. Reading a missing name throws a
 *  `ReferenceError`. */
export type Scope = Record<string, unknown>

/** The names in a namespace. */
export type KnownNames = Pick<ReadonlySet<string>, "has">

/** Stops cells that are out of time or aborted. `left` counts down at loop heads and function entries; below zero the
 *  code calls `tick`, which throws if the running cell must stop and otherwise refills `left`. Generated code calls the
 *  members by name. */
export interface LoopGuard {
  left: number
  tick(): void
  /** Returns an awaited value, or throws if the cell that awaited it must stop. */
  resume<T>(value: T): T
  /** Returns a value that decides a condition or equality, or throws if it is a remote member that was not awaited. */
  value<T>(value: T): T
  /** Returns an object whose fields are compared with null or undefined, or throws if it is remote. */
  fields<T>(value: T): T
  /** Throws if a value that a default could have replaced is a remote member that was not awaited. */
  defaults(...values: unknown[]): void
  /** Returns a default value, which may be a remote member. */
  chosen<T>(value: T): T
  /** The value before `?.`. A remote member that was not awaited is replaced by one that becomes undefined, with
   *  everything after it, if the remote value is null or undefined. */
  optional(value: unknown): unknown
  /** The object of `object.method?.()`; its remote members are replaced in the same way. */
  optionalMethods(value: unknown): unknown
}

export interface CompiledCell {
  /** Runs the cell once. Resolves to the awaited value of the trailing expression, or undefined if there is none. */
  run(scope: Scope, ambient: Ambient, guard: LoopGuard): Promise<unknown>
  /** Whether the cell ends in an expression: then `undefined` is its value. */
  hasValue: boolean
  /** Names that the cell declares at its top level. */
  declares: readonly string[]
  /** Those of them that a later cell cannot assign to: declared with `const`, `using` or `import`. */
  constants: readonly string[]
  /** Maps a position in a stack to one in the cell's source. The line is the same; the column usually differs. */
  locate(position: Position): Position
}

export interface CompileOptions {
  /** Shown in stacks, such as `cell-3.ts`. */
  filename: string
  /** Names in the namespace when the cell starts. */
  known: KnownNames
  /** Names among them that may only be declared again, not assigned to. */
  constants: ReadonlySet<string>
  /** Names that resolve to `ambient`. */
  ambient: ReadonlySet<string>
  /** Whether values that may be remote pass the checks of the loop guard, such as `guard.value`. */
  checkRemoteValues?: boolean | undefined
}

/** Compiles a cell for the current realm. Throws a `CellSyntaxError` for code that a cell cannot contain.
 *
 *  Every name that a cell declares at its top level is a property of the scope, and every use reads that property. So
 *  cells may declare a name again, and functions of earlier cells see the new value. Until its declaration runs, the
 *  name has the value of the earlier cell. A name that no cell has declared yet is resolved when the cell is compiled:
 *  to a global, an ambient name or the scope. Imports copy the exports' values. Errors that leave the cell quote the
 *  cell's own code, but positions in their stack must be mapped by `locate`. */
export function compileCell(cell: ParsedCell, options: CompileOptions): CompiledCell {
  refuseReservedNames(cell)
  const { code } = cell
  const { output, prologue, hasValue } = rewriteOrRefuse(cell, options)
  const textStart = functionStart + prologue
  const text = `${textStart}${output.text()}\n})`
  const locate = (position: Position) => {
    return positionAt(code, output.sourceOffset(offsetAt(text, position) - textStart.length))
  }
  const cellFunction = loadCellFunction(text, options.filename, locate)
  const declarations = [...(analyseScope(cell).cell.names?.values() ?? [])]
  return {
    run: (scope, ambient, guard) => cellFunction(scope, ambient, guard, cellHelpers).catch(rethrow),
    hasValue,
    declares: declarations.map(({ name }) => name),
    constants: declarations.filter(({ kind }) => names.isConstantKind(kind)).map(({ name }) => name),
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

// The parentheses make the engine compile the function at once instead of pre-parsing it first.
const functionStart = `(async function(${names.scopeVariable},${names.ambientVariable},${names.guardVariable},${names.helpersVariable}){"use strict";`

function loadCellFunction(text: string, filename: string, locate: CompiledCell["locate"]): CellFunction {
  try {
    return evaluate(`${text}\n//# sourceURL=${filename}`)
  } catch {
    // Nothing of the cell has run yet. A `Script` reports where the engine found the error, and works in programs that
    // disallow code generation from strings.
    return loadScript(text, filename, locate)
  }
}

// Called indirectly, so that the code sees none of our local names. Each `Script` would leave a kilobyte in the engine.
// biome-ignore lint/security/noGlobalEval: running code is what cells are for.
const evaluate: (text: string) => CellFunction = globalThis.eval

function loadScript(text: string, filename: string, locate: CompiledCell["locate"]): CellFunction {
  try {
    return new Script(text, filename).runInThisContext()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw toCellSyntaxError(error)
    // The parser accepted the code and the engine did not. The stack shows the line, and a marker below it the column.
    const [first = "", , marker = ""] = (error.stack ?? "").split("\n")
    const line = Number(first.slice(filename.length + 1))
    throw new CellSyntaxError(error.message, locate({ line, column: marker.indexOf("^") + 1 }))
  }
}

/** Cells must not use the names that generated code uses. */
function refuseReservedNames({ code, program }: ParsedCell): void {
  if (!code.includes("$$") && !code.includes("\\u")) return
  walk(program, (node) => {
    if (node.type !== "Identifier" || !names.reservedPrefixes.some((name) => node.name.startsWith(name))) return
    throw new CellSyntaxError(`The name ${node.name} is reserved; choose another`, positionAt(code, node.start))
  })
}
