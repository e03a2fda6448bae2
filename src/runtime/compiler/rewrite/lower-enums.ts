// Rewrites enums and namespaces to objects that a function fills: `holder.E=(e=>{…;return e})({});`.
import type { AnyNode, ExportNamedDeclaration } from "acorn"
import { generatedVariable, helpersVariable } from "../name-storage.ts"
import { isTypeOnly } from "../parse-cell.ts"
import type { EnumDeclaration, EnumMember, NamespaceDeclaration } from "../typescript-ast.ts"
import type { RewriteContext } from "./rewrite-context.ts"
import { findToken, skipNode } from "./strip-types.ts"

export function lowerEnum(context: RewriteContext, node: EnumDeclaration, holder: Holder): void {
  const { out, code } = context
  const object = generatedVariable(node)
  openInitializer(context, node, holder, object)
  out.skipTo(findToken(code, "{", node.id.end) + 1)
  let previous: string | undefined
  for (const member of node.members) {
    out.skipTo(member.start)
    const key = JSON.stringify(declaredName(member))
    out.write(`${helpersVariable}.member(${object},${key},`)
    if (member.initializer) {
      out.skipTo(findToken(code, "=", member.id.end) + 1)
      context.emit(member.initializer)
      out.copyTo(member.end)
    } else out.write(previous === undefined ? "0" : `${object}[${previous}]+1`)
    out.write(");")
    out.skipTo(member.end)
    previous = key
  }
  closeInitializer(context, node, holder, object)
}

export function lowerNamespace(context: RewriteContext, node: NamespaceDeclaration, holder: Holder): void {
  const { out } = context
  const { body } = node
  if (!body || hasOnlyTypes(node)) return skipNode(out, node)
  const object = generatedVariable(body)
  openInitializer(context, node, holder, object)
  context.depth++
  if (body.type === "TSModuleDeclaration") {
    out.skipTo(body.start)
    lowerNamespace(context, body, object)
  } else {
    out.skipTo(body.start + 1)
    out.write(body.body.map((statement) => exportedFunctionCode(statement, object)).join(""))
    for (const statement of body.body) rewriteNamespaceStatement(context, statement, object)
    out.copyTo(body.end - 1)
  }
  context.depth--
  closeInitializer(context, node, holder, object)
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

function openInitializer(context: RewriteContext, node: EnumOrNamespace, holder: Holder, object: string): void {
  const name = declaredName(node)
  const target = holder ? `${holder}.${name}` : isContinued(context, node) ? name : `let ${name}`
  context.out.copyTo(node.start)
  context.out.write(`${target}=(${object}=>{`)
}

function closeInitializer(context: RewriteContext, node: EnumOrNamespace, holder: Holder, object: string): void {
  const name = declaredName(node)
  const existing = isContinued(context, node) ? (holder ? `${holder}.${name}` : name) : "{}"
  context.out.skipTo(node.end)
  context.out.write(`;return ${object}})(${existing});`)
}

function rewriteNamespaceStatement(context: RewriteContext, node: AnyNode, object: string): void {
  if (isTypeOnly(node)) return skipNode(context.out, node)
  if (node.type === "ExportNamedDeclaration") return rewriteExported(context, node, object)
  if (node.type === "TSImportEqualsDeclaration" && node.isExport) return context.declare(node, object)
  context.emit(node)
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

/** The variable of the object that gets the enum or namespace as a member; undefined for one at the top. */
type Holder = string | undefined
type EnumOrNamespace = EnumDeclaration | NamespaceDeclaration

function declaredName({ id }: EnumOrNamespace | EnumMember): string {
  return id.type === "Identifier" ? id.name : String(id.value)
}

function isContinued({ analysis }: RewriteContext, { id }: EnumOrNamespace): boolean {
  return id.type === "Identifier" && analysis.continued.has(id)
}
