// Parses a cell to a syntax tree and walks the tree. The rules, the type gate and the compiler share the tree.
import type { Program } from "acorn"
import { findBrokenObjectLiteral, findObjectLiteral, objectLiteralHint } from "./object-literal.ts"
import type { ScopeAnalysis } from "./scope-analysis.ts"
import { type Position, positionAt } from "./text-positions.ts"
import type { AnyNode } from "./typescript-ast.ts"
import { type ParseFailure, parseTypeScript } from "./typescript-parser.ts"

export type { AnyNode } from "./typescript-ast.ts"

export interface ParsedCell {
  code: string
  program: Program
  /** Cached by `analyseScope`. */
  scope?: ScopeAnalysis | undefined
}

/** The cell is not valid TypeScript. Line and column count from 1. */
export class CellSyntaxError extends SyntaxError {
  override name = "SyntaxError"
  readonly line: number
  readonly column: number

  constructor(message: string, { line, column }: Position) {
    super(message)
    this.line = line
    this.column = column
  }
}

/** Parses TypeScript; top-level await, imports and exports are allowed. Throws a `CellSyntaxError`. */
export function parseCell(code: string): ParsedCell {
  try {
    const program = parseTypeScript(code)
    const block = findObjectLiteral(code, program)
    if (block !== undefined) throw new CellSyntaxError(objectLiteralHint, positionAt(code, block))
    return { code, program, scope: undefined }
  } catch (error) {
    if (!isParseFailure(error)) throw toCellSyntaxError(error)
    const block = findBrokenObjectLiteral(code, error.position)
    if (block !== undefined) throw new CellSyntaxError(objectLiteralHint, positionAt(code, block))
    throw new CellSyntaxError(explainParseFailure(error, code), positionAt(code, error.position))
  }
}

/** Converts a failure of the compiler. A stack overflow, or code that the parser would have to re-read too often
 *  because it is ambiguous, is reported as nested too deeply. */
export function toCellSyntaxError(error: unknown): unknown {
  if (!(error instanceof RangeError)) return error
  return new CellSyntaxError(nestedTooDeeply, { line: 1, column: 1 })
}

/** Visits a node and its descendants, parents first, in source order. If the visitor returns false, the node's
 *  descendants are skipped; `types: false` skips type-only nodes. */
export function walk(
  root: AnyNode,
  visit: (node: AnyNode, parent: AnyNode | undefined) => unknown,
  options: { types?: boolean | undefined } = {},
): void {
  const { types = true } = options
  const enter = (node: AnyNode, parent: AnyNode | undefined): void => {
    if (!types && isTypeOnly(node)) return
    if (visit(node, parent) === false) return
    const below = (child: AnyNode) => enter(child, node)
    if (types) allChildren(node).forEach(below)
    else eachChild(node, below)
  }
  enter(root, undefined)
}

/** Visits the direct children of a node in source order, without type-only nodes. */
export function eachChild(node: AnyNode, visit: (child: AnyNode) => void): void {
  const keys = childKeys[node.type]
  if (!keys) {
    for (const child of allChildren(node)) if (!isTypeOnly(child)) visit(child)
    return
  }
  // The table cannot be typed against the union of all nodes; `isNode` checks each value.
  const fields = node as unknown as Record<string, unknown>
  for (const key of keys) {
    const value = fields[key]
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item) && !isTypeOnly(item)) visit(item)
    } else if (isNode(value) && !isTypeOnly(value)) visit(value)
  }
}

/** Returns true for the statement `super(…)`. */
export function callsSuper(statement: AnyNode): boolean {
  if (statement.type !== "ExpressionStatement") return false
  return statement.expression.type === "CallExpression" && statement.expression.callee.type === "Super"
}

/** Returns true if the node does not exist at run time. */
export function isTypeOnly(node: AnyNode): boolean {
  // Called for every node, so most are decided by their first letter.
  if (node.type.charCodeAt(0) === letterT && node.type.startsWith("TS")) {
    return !valueNodes.has(node.type) || ("declare" in node && node.declare === true)
  }
  switch (node.type) {
    case "ImportDeclaration":
    case "ImportSpecifier":
      return node.importKind === "type"
    case "ExportNamedDeclaration":
    case "ExportSpecifier":
    case "ExportAllDeclaration":
      return node.exportKind === "type"
    case "VariableDeclaration":
    case "ClassDeclaration":
    case "PropertyDefinition":
      return node.declare === true
    default:
      return false
  }
}

const nestedTooDeeply = "The cell is nested too deeply; split it up"

const letterT = "T".charCodeAt(0)

const valueNodes = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
  "TSEnumDeclaration",
  "TSEnumMember",
  "TSModuleDeclaration",
  "TSModuleBlock",
  "TSImportEqualsDeclaration",
  "TSExternalModuleReference",
  "TSQualifiedName",
  "TSExportAssignment",
  "TSParameterProperty",
])

// The value fields of the most common nodes, in source order.
const childKeys: { [type: string]: readonly string[] } = {
  Identifier: [],
  Literal: [],
  ThisExpression: [],
  Super: [],
  TemplateElement: [],
  Program: ["body"],
  ExpressionStatement: ["expression"],
  BlockStatement: ["body"],
  ReturnStatement: ["argument"],
  IfStatement: ["test", "consequent", "alternate"],
  ForStatement: ["init", "test", "update", "body"],
  ForInStatement: ["left", "right", "body"],
  ForOfStatement: ["left", "right", "body"],
  WhileStatement: ["test", "body"],
  ThrowStatement: ["argument"],
  TryStatement: ["block", "handler", "finalizer"],
  CatchClause: ["param", "body"],
  SwitchStatement: ["discriminant", "cases"],
  SwitchCase: ["test", "consequent"],
  DoWhileStatement: ["body", "test"],
  LabeledStatement: ["label", "body"],
  VariableDeclaration: ["declarations"],
  VariableDeclarator: ["id", "init"],
  ArrayExpression: ["elements"],
  ObjectExpression: ["properties"],
  Property: ["key", "value"],
  UnaryExpression: ["argument"],
  UpdateExpression: ["argument"],
  BinaryExpression: ["left", "right"],
  LogicalExpression: ["left", "right"],
  AssignmentExpression: ["left", "right"],
  ConditionalExpression: ["test", "consequent", "alternate"],
  CallExpression: ["callee", "arguments"],
  NewExpression: ["callee", "arguments"],
  MemberExpression: ["object", "property"],
  ChainExpression: ["expression"],
  SpreadElement: ["argument"],
  AwaitExpression: ["argument"],
  YieldExpression: ["argument"],
  SequenceExpression: ["expressions"],
  ImportExpression: ["source", "options"],
  ArrowFunctionExpression: ["params", "body"],
  FunctionExpression: ["id", "params", "body"],
  FunctionDeclaration: ["id", "params", "body"],
}

function allChildren(node: AnyNode): AnyNode[] {
  const children = Object.values(node).flat().filter(isNode)
  return children.sort((one, other) => one.start - other.start)
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value
}

function isParseFailure(error: unknown): error is ParseFailure {
  return error instanceof SyntaxError && "position" in error
}

function explainParseFailure({ message, position }: ParseFailure, code: string): string {
  if (message === "'return' outside of function") {
    return "return is only allowed inside a function; end the cell with an expression to give its value"
  }
  if (message === "Not enough stack space to parse input") return nestedTooDeeply
  if (message !== "Unexpected token") return message
  const token = /^(?:[\w$]+|=>|[-+*/%&|^<>=!?.]+|.)/u.exec(code.slice(position).trimStart())?.[0]
  return token === undefined ? "Unexpected end of the cell" : `Unexpected token ${token}`
}
