// Records which source text each function and class of a namespace was declared with, so that snapshots can declare it
// again, and reads declarations, assignments and mentioned names from cells.
import { isBuiltin } from "node:module"
import type { AnyNode } from "acorn"
import { isObject } from "../../core/object.ts"
import type { KnownNames, Scope } from "../compiler/compile-cell.ts"
import { forEachTarget, unwrapExpression } from "../compiler/destructuring.ts"
import type { ParsedCell } from "../compiler/parse-cell.ts"
import { analyseScope, type Declaration } from "../compiler/scope-analysis.ts"

export interface CodeOrigin {
  name: string
  /** One declaration: a function, a class, or a variable initialised with one. */
  source: string
  /** Names in the source that refer to the namespace, even if a global has the same name. */
  known: readonly string[]
  /** Later declarations have larger numbers. */
  order: number
}

/** A function, class or import that a cell declares. */
export type CellDeclaration =
  | { kind: "code"; name: string; source: string; known: readonly string[] }
  | { kind: "import"; name: string; specifier: string }

/** The origins of one namespace. Each belongs to a function object, so reassigning its name has no effect. */
export interface CodeOrigins {
  /** Records what a cell declared, after it has run. */
  record(declared: readonly CellDeclaration[], scope: Scope): void
  originOf(value: object): CodeOrigin | undefined
  /** Returns the module that the value of a name was imported from. */
  moduleOf(name: string, value: unknown): string | undefined
  /** Returns imported modules of the platform and imported parts of them. */
  platformModules(): object[]
}

export function createCodeOrigins(): CodeOrigins {
  const origins = new WeakMap<object, CodeOrigin>()
  const imports = new Map<string, { value: unknown; specifier: string }>()
  let order = 0
  return {
    record(declared, scope) {
      for (const declaration of declared) {
        const { name } = declaration
        const value = Object.hasOwn(scope, name) ? scope[name] : undefined
        if (declaration.kind === "import") imports.set(name, { value, specifier: declaration.specifier })
        else if (typeof value === "function" && !origins.has(value)) {
          const { source, known } = declaration
          origins.set(value, { name, source, known, order: order++ })
        }
      }
    },
    originOf: (value) => origins.get(value),
    moduleOf(name, value) {
      const found = imports.get(name)
      return found && Object.is(found.value, value) ? found.specifier : undefined
    },
    platformModules: () =>
      [...imports.values()].flatMap(({ value, specifier }) => (isObject(value) && isBuiltin(specifier) ? [value] : [])),
  }
}

/** Returns the functions, classes and imports that a cell declares at top level. `known` are the namespace's names. */
export function cellDeclarations(cell: ParsedCell, known: KnownNames): CellDeclaration[] {
  const { names } = analyseScope(cell).cell
  return [...(names?.values() ?? [])].flatMap((declaration) => cellDeclarationOf(declaration, cell, known) ?? [])
}

/** Returns `declares` and the names that top-level statements assign, which every completed cell has assigned. */
export function assignedNames({ program }: ParsedCell, declares: readonly string[]): readonly string[] {
  const assigned = new Set(declares)
  const add = (target: AnyNode) => {
    if (target.type === "Identifier") assigned.add(target.name)
  }
  for (const statement of program.body) {
    if (statement.type !== "ExpressionStatement") continue
    const expression = unwrapExpression(statement.expression)
    if (expression.type === "UpdateExpression") add(unwrapExpression(expression.argument))
    if (expression.type === "AssignmentExpression") forEachTarget(expression.left, [], add, () => {})
  }
  return [...assigned]
}

/** Returns the namespace names that a cell mentions; undefined if it may reach any name, through `globalThis` or
 *  through modules that hold injected objects. */
export function mentionedNames(cell: ParsedCell, known: KnownNames): string[] | undefined {
  return /\b(?:globalThis|global|import)\b/.test(cell.code) ? undefined : namespaceNamesIn(cell.program, cell, known)
}

function cellDeclarationOf(declaration: Declaration, cell: ParsedCell, known: KnownNames): CellDeclaration | undefined {
  const { name, kind, init, path, references } = declaration
  if (!init) return undefined
  if (kind === "import") return { kind: "import", name, specifier: specifierOf(init) }
  // If the cell assigns the name again, it may not hold the declared value when the cell ends.
  if (path.length > 0 || references.some(({ write }) => write)) return undefined
  const value = unwrapExpression(init)
  const isDeclaration = value.type === "FunctionDeclaration" || value.type === "ClassDeclaration"
  if (!isDeclaration && !isCodeExpression(value)) return undefined
  const text = cell.code.slice(value.start, value.end)
  const source = isDeclaration ? text : `const ${name} = ${text}`
  const mentioned = namespaceNamesIn(value, cell, known)
  return mentioned && { kind: "code", name, source, known: mentioned }
}

export function isCodeExpression({ type }: AnyNode): boolean {
  return type === "ArrowFunctionExpression" || type === "FunctionExpression" || type === "ClassExpression"
}

/** Returns undefined if the node uses a variable of a block around it. */
function namespaceNamesIn({ start, end }: AnyNode, cell: ParsedCell, known: KnownNames): string[] | undefined {
  const scope = analyseScope(cell)
  const names = new Set<string>()
  for (const [node, reference] of scope.references) {
    if (node.start < start || node.end > end) continue
    const isLocal = reference.declaration !== undefined && reference.scope !== scope.cell
    if (isLocal && reference.scope && reference.scope.node.start < start) return undefined
    if (!isLocal && (reference.declaration || known.has(node.name))) names.add(node.name)
  }
  return [...names]
}

function specifierOf(node: AnyNode): string {
  if (node.type === "ImportDeclaration") return String(node.source.value)
  return node.type === "TSExternalModuleReference" ? String(node.expression.value) : ""
}
