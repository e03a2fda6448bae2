import type { AnyNode, ExportNamedDeclaration } from "acorn"
import type { EnumDeclaration, EnumMember, NamespaceDeclaration } from "../ast.ts"
import { isTypeOnly } from "../syntax.ts"
import { cellObject, memberObject } from "./homes.ts"
import type { Rewriting } from "./rewriting.ts"
import { find, skip } from "./strip.ts"

// Enums and namespaces become objects that a function fills: `home.E=(e=>{…;return e})({});`.

export function lowerEnum(rewriting: Rewriting, node: EnumDeclaration, home: string | undefined): void {
  const { out, code } = rewriting
  const object = memberObject(node)
  open(rewriting, node, home, object)
  out.skipTo(find(code, "{", node.id.end) + 1)
  let previous: string | undefined
  for (const member of node.members) {
    out.skipTo(member.start)
    const key = JSON.stringify(memberName(member))
    out.write(`${cellObject}.member(${object},${key},`)
    if (member.initializer) {
      out.skipTo(find(code, "=", member.id.end) + 1)
      rewriting.emit(member.initializer)
      out.copyTo(member.end)
    } else out.write(previous === undefined ? "0" : `${object}[${previous}]+1`)
    out.write(");")
    out.skipTo(member.end)
    previous = key
  }
  close(rewriting, node, home, object)
}

export function lowerNamespace(rewriting: Rewriting, node: NamespaceDeclaration, home: string | undefined): void {
  const { out } = rewriting
  const { body } = node
  if (!body || isOnlyTypes(node)) return skip(out, node)
  const object = memberObject(body)
  open(rewriting, node, home, object)
  rewriting.depth++
  if (body.type === "TSModuleDeclaration") {
    out.skipTo(body.start)
    lowerNamespace(rewriting, body, object)
  } else {
    out.skipTo(body.start + 1)
    out.write(body.body.map((statement) => publishedFunction(statement, object)).join(""))
    for (const statement of body.body) rewriteStatement(rewriting, statement, object)
    out.copyTo(body.end - 1)
  }
  rewriting.depth--
  close(rewriting, node, home, object)
}

/** Whether a namespace declares nothing that exists when the program runs. */
function isOnlyTypes({ body }: NamespaceDeclaration): boolean {
  if (!body) return true
  if (body.type === "TSModuleDeclaration") return isOnlyTypes(body)
  return body.body.every((statement: AnyNode) => {
    const inner: AnyNode =
      statement.type === "ExportNamedDeclaration" ? (statement.declaration ?? statement) : statement
    return isTypeOnly(inner) || (inner.type === "TSModuleDeclaration" && isOnlyTypes(inner))
  })
}

function open(rewriting: Rewriting, node: Named, home: string | undefined, object: string): void {
  const name = nameOf(node)
  const target = home ? `${home}.${name}` : isContinued(rewriting, node) ? name : `let ${name}`
  rewriting.out.copyTo(node.start)
  rewriting.out.write(`${target}=(${object}=>{`)
}

function close(rewriting: Rewriting, node: Named, home: string | undefined, object: string): void {
  const name = nameOf(node)
  const existing = isContinued(rewriting, node) ? (home ? `${home}.${name}` : name) : "{}"
  rewriting.out.skipTo(node.end)
  rewriting.out.write(`;return ${object}})(${existing});`)
}

function rewriteStatement(rewriting: Rewriting, node: AnyNode, object: string): void {
  if (isTypeOnly(node)) return skip(rewriting.out, node)
  if (node.type === "ExportNamedDeclaration") return rewriteExported(rewriting, node, object)
  if (node.type === "TSImportEqualsDeclaration" && node.isExport) return rewriting.declare(node, object)
  rewriting.emit(node)
}

function rewriteExported({ out, declare }: Rewriting, node: ExportNamedDeclaration, object: string): void {
  const { declaration } = node
  if (!declaration || isTypeOnly(declaration)) return skip(out, node)
  out.copyTo(node.start)
  out.skipTo(declaration.start)
  declare(declaration, object)
}

function publishedFunction(node: AnyNode, object: string): string {
  if (node.type !== "ExportNamedDeclaration" || node.declaration?.type !== "FunctionDeclaration") return ""
  const { name } = node.declaration.id
  return `${object}.${name}=${name};`
}

function memberName({ id }: EnumMember): string {
  return id.type === "Identifier" ? id.name : String(id.value)
}

type Named = EnumDeclaration | NamespaceDeclaration

function nameOf({ id }: Named): string {
  return id.type === "Identifier" ? id.name : String(id.value)
}

function isContinued({ analysis }: Rewriting, { id }: Named): boolean {
  return id.type === "Identifier" && analysis.continued.has(id)
}
