// Rewrites enums and namespaces to objects that a function fills: `storage.E=(e=>{…;return e})({});`.
import type { AnyNode, ExportNamedDeclaration } from "acorn"
import { generatedVariable, helpersVariable } from "../name-storage.ts"
import { isTypeOnly } from "../parse-cell.ts"
import type { EnumDeclaration, EnumMember, NamespaceDeclaration } from "../typescript-ast.ts"
import type { RewriteContext } from "./rewrite-context.ts"
import { findToken, skipNode } from "./strip-types.ts"

export function lowerEnum(rewriting: RewriteContext, node: EnumDeclaration, home: string | undefined): void {
  const { out, code } = rewriting
  const object = generatedVariable(node)
  openInitializer(rewriting, node, home, object)
  out.skipTo(findToken(code, "{", node.id.end) + 1)
  let previous: string | undefined
  for (const member of node.members) {
    out.skipTo(member.start)
    const key = JSON.stringify(memberName(member))
    out.write(`${helpersVariable}.member(${object},${key},`)
    if (member.initializer) {
      out.skipTo(findToken(code, "=", member.id.end) + 1)
      rewriting.emit(member.initializer)
      out.copyTo(member.end)
    } else out.write(previous === undefined ? "0" : `${object}[${previous}]+1`)
    out.write(");")
    out.skipTo(member.end)
    previous = key
  }
  closeInitializer(rewriting, node, home, object)
}

export function lowerNamespace(rewriting: RewriteContext, node: NamespaceDeclaration, home: string | undefined): void {
  const { out } = rewriting
  const { body } = node
  if (!body || hasOnlyTypes(node)) return skipNode(out, node)
  const object = generatedVariable(body)
  openInitializer(rewriting, node, home, object)
  rewriting.depth++
  if (body.type === "TSModuleDeclaration") {
    out.skipTo(body.start)
    lowerNamespace(rewriting, body, object)
  } else {
    out.skipTo(body.start + 1)
    out.write(body.body.map((statement) => exportedFunctionCode(statement, object)).join(""))
    for (const statement of body.body) rewriteNamespaceStatement(rewriting, statement, object)
    out.copyTo(body.end - 1)
  }
  rewriting.depth--
  closeInitializer(rewriting, node, home, object)
}

/** Returns true if a namespace declares nothing that exists at run time. */
function hasOnlyTypes({ body }: NamespaceDeclaration): boolean {
  if (!body) return true
  if (body.type === "TSModuleDeclaration") return hasOnlyTypes(body)
  return body.body.every((statement: AnyNode) => {
    const inner: AnyNode =
      statement.type === "ExportNamedDeclaration" ? (statement.declaration ?? statement) : statement
    return isTypeOnly(inner) || (inner.type === "TSModuleDeclaration" && hasOnlyTypes(inner))
  })
}

function openInitializer(
  rewriting: RewriteContext,
  node: EnumOrNamespace,
  home: string | undefined,
  object: string,
): void {
  const name = declaredName(node)
  const target = home ? `${home}.${name}` : isContinued(rewriting, node) ? name : `let ${name}`
  rewriting.out.copyTo(node.start)
  rewriting.out.write(`${target}=(${object}=>{`)
}

function closeInitializer(
  rewriting: RewriteContext,
  node: EnumOrNamespace,
  home: string | undefined,
  object: string,
): void {
  const name = declaredName(node)
  const existing = isContinued(rewriting, node) ? (home ? `${home}.${name}` : name) : "{}"
  rewriting.out.skipTo(node.end)
  rewriting.out.write(`;return ${object}})(${existing});`)
}

function rewriteNamespaceStatement(rewriting: RewriteContext, node: AnyNode, object: string): void {
  if (isTypeOnly(node)) return skipNode(rewriting.out, node)
  if (node.type === "ExportNamedDeclaration") return rewriteExported(rewriting, node, object)
  if (node.type === "TSImportEqualsDeclaration" && node.isExport) return rewriting.declare(node, object)
  rewriting.emit(node)
}

function rewriteExported({ out, declare }: RewriteContext, node: ExportNamedDeclaration, object: string): void {
  const { declaration } = node
  if (!declaration || isTypeOnly(declaration)) return skipNode(out, node)
  out.copyTo(node.start)
  out.skipTo(declaration.start)
  declare(declaration, object)
}

function exportedFunctionCode(node: AnyNode, object: string): string {
  if (node.type !== "ExportNamedDeclaration" || node.declaration?.type !== "FunctionDeclaration") return ""
  const { name } = node.declaration.id
  return `${object}.${name}=${name};`
}

function memberName({ id }: EnumMember): string {
  return id.type === "Identifier" ? id.name : String(id.value)
}

type EnumOrNamespace = EnumDeclaration | NamespaceDeclaration

function declaredName({ id }: EnumOrNamespace): string {
  return id.type === "Identifier" ? id.name : String(id.value)
}

function isContinued({ analysis }: RewriteContext, { id }: EnumOrNamespace): boolean {
  return id.type === "Identifier" && analysis.continued.has(id)
}
