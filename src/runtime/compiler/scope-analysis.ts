// Scope analysis of a cell: every identifier in a value position and the declaration it refers to.
import type { AnyNode, Identifier } from "acorn"
import type { ParsedCell } from "./parse-cell.ts"
import { resolveNames } from "./resolve-names.ts"

/** The names of a cell. Identifiers in types, labels, export lists and property names are not included. */
export interface ScopeAnalysis {
  /** The top level of the cell. Its declarations persist in the namespace. */
  cell: LexicalScope
  /** Each use of a name by its node, in source order. A declaration alone is not a use. */
  references: ReadonlyMap<Identifier, Reference>
  /** The identifiers of enum and namespace declarations that extend an earlier declaration of the same name. */
  continued: ReadonlySet<Identifier>
}

export interface LexicalScope {
  kind: "cell" | "function" | "arrow" | "block" | "class" | "enum" | "namespace"
  node: AnyNode
  parent: LexicalScope | undefined
  /** The declarations of this scope, including hoisted `var`s; undefined if there are none. */
  names: Map<string, Declaration> | undefined
  /** For an enum or namespace: its own declaration, which has the members. */
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
  /** The declaring identifier, the first of several; undefined for `arguments`. */
  node: Identifier | undefined
  /** The initialiser, or the function, class, enum, namespace or import declaration itself. */
  init: AnyNode | undefined
  /** Where in `init` the value is: `const { a: { b } } = init` has `["a", "b"]`, `import { b } from` has `["b"]`.
   *  Undefined stands for a computed step, an index or a rest. Empty: `init` itself. */
  path: Path
  references: Reference[]
  /** For an enum or namespace (or a declaration merged with one): its exported members, from all its blocks. */
  members: Map<string, Declaration> | undefined
}

export interface Reference {
  name: string
  node: Identifier
  /** Undefined if the cell does not declare the name. */
  declaration: Declaration | undefined
  /** The scope the declaration was found in. */
  scope: LexicalScope | undefined
  read: boolean
  write: boolean
  /** The name is called, constructed or used as a template tag, also through parentheses and type assertions. */
  call: boolean
  /** The value of a plain assignment; `path` says where in it the name's value is, as for a declaration. */
  value: AnyNode | undefined
  path: Path
}

export type Path = readonly (string | undefined)[]

/** Resolves all names of a cell. The result is cached in the cell. */
export function analyseScope(cell: ParsedCell): ScopeAnalysis {
  cell.scope ??= resolveNames(cell.program)
  return cell.scope
}
