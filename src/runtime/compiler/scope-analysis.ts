import type { AnyNode, Identifier } from "acorn"
import type { ParsedCell } from "./parse-cell.ts"
import { resolveNames } from "./resolve-names.ts"

/** Who is who in a cell: every identifier in a value position and what it refers to. Identifiers in types, labels,
 *  export lists and property names are not here. */
export interface ScopeAnalysis {
  /** The cell's own level: what it declares there persists. */
  cell: LexicalScope
  /** Each use of a name, by its node, in the order of the source. A declaration by itself is no use. */
  references: ReadonlyMap<Identifier, Reference>
  /** The names of enums and namespaces that go on with what was declared before under that name. */
  continued: ReadonlySet<Identifier>
}

export interface LexicalScope {
  kind: "cell" | "function" | "arrow" | "block" | "class" | "enum" | "namespace"
  node: AnyNode
  parent: LexicalScope | undefined
  /** What is declared right here, `var` included where it is hoisted to; undefined when nothing is. */
  names: Map<string, Declaration> | undefined
  /** Of an enum or a namespace: its own declaration, which has its members. */
  self: Declaration | undefined
}

export type DeclarationKind =
  | "var"
  | "let"
  | "const"
  | "using"
  | "await using"
  | "function"
  | "class"
  | "parameter"
  | "catch"
  | "import"
  | "enum"
  | "namespace"
  | "enum member"
  | "arguments"

export interface Declaration {
  name: string
  kind: DeclarationKind
  /** The identifier that declares it, the first of several; undefined for `arguments`. */
  node: Identifier | undefined
  /** What it starts as: the initialiser, or the function, class, enum, namespace or import declaration itself. */
  init: AnyNode | undefined
  /** Where in `init` its value is: `const { a: { b } } = init` gives `["a", "b"]`, `import { b } from` gives `["b"]`;
   *  undefined stands for a step that is computed, an index or a rest. Empty: `init` itself. */
  path: Path
  references: Reference[]
  /** Of an enum or namespace (or what a namespace is merged with): what it exports, from all its blocks. */
  members: Map<string, Declaration> | undefined
}

export interface Reference {
  name: string
  node: Identifier
  /** Undefined when the cell does not declare the name: it is free. */
  declaration: Declaration | undefined
  /** The scope the declaration was found in. */
  scope: LexicalScope | undefined
  read: boolean
  write: boolean
  /** It is called, constructed or used as a template tag, also through parentheses and type assertions. */
  call: boolean
  /** What a plain assignment assigns, and where in it the value is, as for a declaration. */
  value: AnyNode | undefined
  path: Path
}

export type Path = readonly (string | undefined)[]

/** Resolves all names of a cell. The result is kept with the cell, so asking again costs nothing. */
export function analyseScope(cell: ParsedCell): ScopeAnalysis {
  cell.scope ??= resolveNames(cell.program)
  return cell.scope
}
