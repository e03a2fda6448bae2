// Rewrites `import … from "x"` and `import x = require("x")` to calls of the ambient `import`.
import type { AnyNode, ImportDeclaration } from "acorn"
import { ambientVariable, generatedVariable, guardVariable, helpersVariable, scopeVariable } from "../name-storage.ts"
import type { ImportEquals } from "../typescript-ast.ts"
import type { RewriteContext } from "./rewrite-context.ts"

export function isImport(node: AnyNode): node is ImportDeclaration | ImportEquals {
  if (node.type === "ImportDeclaration") return true
  return node.type === "TSImportEqualsDeclaration" && node.moduleReference.type === "TSExternalModuleReference"
}

/** Writes code that loads the module and assigns its names to the scope: in place if only imports came before,
 *  otherwise before the cell's first statement. */
export function rewriteImport(context: RewriteContext, node: ImportDeclaration | ImportEquals, inPlace: boolean): void {
  const { out } = context
  const text = node.type === "ImportDeclaration" ? importCode(node) : requireCode(node)
  out.copyTo(node.start)
  if (inPlace) out.write(text)
  else context.hoisted += text
  out.skipTo(node.end)
}

function importCode(node: ImportDeclaration): string {
  const { source, specifiers } = node
  // The parser omits the field if there is no `with`.
  const attributes = node.attributes ?? []
  const names = specifiers.filter(
    (specifier) => specifier.type !== "ImportSpecifier" || specifier.importKind !== "type",
  )
  if (names.length === 0 && specifiers.length > 0) return ""
  const from = JSON.stringify(source.value)
  const pairs = attributes.map(({ key, value }) => `${JSON.stringify(nameOf(key))}:${JSON.stringify(value.value)}`)
  const loaded = loadCode(attributes.length > 0 ? `${from},{with:{${pairs.join()}}}` : from)
  if (names.length === 0) return `${loaded};`
  const module = generatedVariable(node)
  const assignments = names.map((specifier) => {
    const target = `${scopeVariable}.${specifier.local.name}`
    if (specifier.type === "ImportNamespaceSpecifier") return `${target}=${module};`
    const name = specifier.type === "ImportSpecifier" ? nameOf(specifier.imported) : "default"
    return `${target}=${helpersVariable}.pick(${module},${JSON.stringify(name)},${from});`
  })
  return `const ${module}=${loaded};${assignments.join("")}`
}

function requireCode({ id, moduleReference }: ImportEquals): string {
  if (moduleReference.type !== "TSExternalModuleReference") return ""
  const from = JSON.stringify(moduleReference.expression.value)
  return `${scopeVariable}.${id.name}=${helpersVariable}.required(${loadCode(from)});`
}

function loadCode(parameters: string): string {
  return `${guardVariable}.resume(await ${ambientVariable}.import(${parameters}))`
}

function nameOf(node: AnyNode): string {
  if (node.type === "Identifier") return node.name
  return node.type === "Literal" ? String(node.value) : ""
}
