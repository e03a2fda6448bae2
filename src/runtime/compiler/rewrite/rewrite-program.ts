// Rewrites the top level of a cell: declarations become properties of the scope, and a trailing expression the cell's
// value.
import type { AnyNode, ExportNamedDeclaration, Program } from "acorn"
import { scopeVariable } from "../name-storage.ts"
import { isTypeOnly } from "../parse-cell.ts"
import type { RewriteContext } from "./rewrite-context.ts"
import { isImport, rewriteImport } from "./rewrite-imports.ts"
import { findToken, skipNode } from "./strip-types.ts"

/** Rewrites the whole cell. Returns true if it has a value. */
export function rewriteProgram(context: RewriteContext, { body }: Program): boolean {
  const { out, code } = context
  if (code.startsWith("#!")) {
    // A `#!` line is no JavaScript inside a function.
    out.write("//")
  }
  const lastStatement = body.findLast((node) => node.type !== "EmptyStatement" && !isTypeOnly(node))
  const hasValue = lastStatement !== undefined && isExpressionStatement(lastStatement)
  let onlyImportsSoFar = true
  for (const node of body) {
    if (isTypeOnly(node)) skipNode(out, node)
    else if (isImport(node)) rewriteImport(context, node, onlyImportsSoFar)
    else {
      onlyImportsSoFar = false
      if (hasValue && node === lastStatement) wrapExpression(context, node, "return await(")
      else rewriteTopLevel(context, node)
    }
  }
  out.copyTo(code.length)
  return hasValue
}

function rewriteTopLevel(context: RewriteContext, node: AnyNode): void {
  switch (node.type) {
    case "VariableDeclaration":
    case "ClassDeclaration":
    case "TSEnumDeclaration":
    case "TSModuleDeclaration":
    case "TSImportEqualsDeclaration":
      return context.declare(node, scopeVariable)
    case "ExportNamedDeclaration":
      return rewriteExport(context, node)
    case "ExportDefaultDeclaration": {
      const declaration: AnyNode = node.declaration
      if (isExpressionStatement(node)) return wrapExpression(context, node, "void(")
      if (isTypeOnly(declaration)) return skipNode(context.out, node)
      context.out.copyTo(node.start)
      context.out.skipTo(declaration.start)
      return context.declare(declaration, scopeVariable)
    }
    case "TSExportAssignment":
      return wrapExpression(context, node, "void(")
    case "ExportAllDeclaration":
      return context.fail("A cell cannot re-export; import what you need instead", node)
    default:
      context.emit(node)
  }
}

function rewriteExport(context: RewriteContext, node: ExportNamedDeclaration): void {
  const { out } = context
  if (node.source) context.fail("A cell cannot re-export; import what you need instead", node)
  if (!node.declaration || isTypeOnly(node.declaration)) return skipNode(out, node)
  out.copyTo(node.start)
  out.skipTo(node.declaration.start)
  rewriteTopLevel(context, node.declaration)
}

/** Returns true if a statement is an expression, so that it can be the value of the cell. */
function isExpressionStatement(node: AnyNode): boolean {
  if (node.type === "ExpressionStatement" || node.type === "TSExportAssignment") return true
  if (node.type !== "ExportDefaultDeclaration") return false
  const declaration: AnyNode = node.declaration
  if (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") return !declaration.id
  return !isTypeOnly(declaration)
}

/** Wraps `expression` or `export default expression` in parentheses. */
function wrapExpression(context: RewriteContext, node: AnyNode, before: string): void {
  const { out, code } = context
  out.copyTo(node.start)
  out.write(before)
  if (node.type === "ExportDefaultDeclaration") {
    out.skipTo(findToken(code, "default", node.start) + "default".length)
    const declaration: AnyNode = node.declaration
    if (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") {
      context.declare(declaration, undefined)
    } else context.emit(declaration)
  } else if (node.type === "TSExportAssignment") {
    out.skipTo(findToken(code, "=", node.start) + 1)
    context.emit(node.expression)
  } else if (node.type === "ExpressionStatement") context.emit(node.expression)
  const isTerminated = code[node.end - 1] === ";"
  out.copyTo(isTerminated ? node.end - 1 : node.end)
  out.skipTo(node.end)
  out.write(");")
}
