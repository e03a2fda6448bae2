// Rewrites declarations: variables, functions, classes, enums, namespaces and import aliases.
import type { AnyNode, Identifier, VariableDeclaration } from "acorn"
import { scopeVariable } from "../name-storage.ts"
import type { ImportEquals } from "../typescript-ast.ts"
import { lowerEnum, lowerNamespace } from "./lower-enums.ts"
import { rewritePattern } from "./rewrite-assignments.ts"
import { bindProperty, bindVariable, type RewriteContext } from "./rewrite-context.ts"
import { rewriteClass, rewriteFunction } from "./rewrite-functions.ts"
import { findToken } from "./strip-types.ts"

// A `var` declaration cannot contain a plain expression, so its check is the value of this extra variable.
const checkVariable = "$$checked"

/** Rewrites a declaration. Its names become properties of the object `storage`, or stay variables if that is
 *  undefined. */
export function rewriteDeclaration(rewriting: RewriteContext, node: AnyNode, home: string | undefined): void {
  const { out } = rewriting
  switch (node.type) {
    case "VariableDeclaration":
      rewriteVariables(rewriting, node, home)
      rewriting.endStatement(node)
      return writeDefaultsCheck(rewriting, node, home)
    case "FunctionDeclaration":
      // The engine hoists the function; the prologue copies it to the storage object.
      return rewriteFunction(rewriting, node)
    case "ClassDeclaration":
      if (!home || !node.id) return rewriteClass(rewriting, node)
      out.copyTo(node.start)
      out.write(`${home}.${node.id.name}=`)
      rewriteClass(rewriting, node)
      out.copyTo(node.end)
      return out.write(";")
    case "TSEnumDeclaration":
      return lowerEnum(rewriting, node, home)
    case "TSModuleDeclaration":
      return lowerNamespace(rewriting, node, home)
    case "TSImportEqualsDeclaration":
      return rewriteAlias(rewriting, node, home)
    default:
      rewriting.emit(node)
  }
}

/** A `var` belongs to the cell from any depth, except inside a function. */
export function variableStorage({ depth }: RewriteContext, { kind }: VariableDeclaration): string | undefined {
  return kind === "var" && depth === 0 ? scopeVariable : undefined
}

/** Rewrites the declarators of a declaration, without the end of the statement. */
export function rewriteVariables(rewriting: RewriteContext, node: VariableDeclaration, home: string | undefined): void {
  if (!home) {
    for (const { id, init } of node.declarations) {
      rewritePattern(rewriting, id, bindVariable(rewriting))
      if (init) rewriting.emit(init)
      const check = node.kind === "var" ? rewriting.checkDefaults([id]) : undefined
      if (!check || !init) continue
      rewriting.out.copyTo(init.end)
      rewriting.out.write(`,${checkVariable}=${check}`)
    }
  } else if (node.kind === "using" || node.kind === "await using") declareResources(rewriting, node, home)
  else assignProperties(rewriting, node, home)
}

/** `let` and `const` are never the single statement of an `if`, so another statement may follow. */
function writeDefaultsCheck(
  rewriting: RewriteContext,
  { kind, declarations }: VariableDeclaration,
  home: string | undefined,
): void {
  const check = home || kind === "var" ? undefined : rewriting.checkDefaults(declarations.map(({ id }) => id))
  if (check) rewriting.out.write(`${check};`)
}

/** `let a = 1, { b } = c` becomes `home.a = 1, void({ b: home.b } = c)`. */
function assignProperties(rewriting: RewriteContext, node: VariableDeclaration, home: string): void {
  const { out } = rewriting
  out.copyTo(node.start)
  for (const { id, init, start, end } of node.declarations) {
    if (start === node.declarations[0]?.start) out.skipTo(start)
    out.copyTo(start)
    const { type } = id
    if (type === "Identifier" && init) {
      bindProperty(rewriting, home)(id, false)
      rewriting.emitNamed(id.name, init)
    } else if (type === "Identifier" && node.kind !== "var") {
      bindProperty(rewriting, home)(id, false)
      out.write("=void 0")
    } else if (type === "Identifier") {
      // A `var` without a value does not change the variable.
      out.write("void 0")
      out.skipTo(end)
    } else {
      out.write("void(")
      rewritePattern(rewriting, id, bindProperty(rewriting, home))
      if (init) rewriting.emit(init)
      out.copyTo(end)
      out.write(")")
      const check = rewriting.checkDefaults([id], ({ name }) => `${home}.${name}`)
      if (check) out.write(`,void ${check}`)
    }
  }
}

/** `using a = b` stays a declaration, so that the resource is disposed of when the cell ends; the value is copied to
 *  the storage object. */
function declareResources(rewriting: RewriteContext, node: VariableDeclaration, home: string): void {
  const { out } = rewriting
  node.declarations.forEach(({ id, init, start, end }, index) => {
    if (index > 0) {
      out.write(`${node.kind} `)
      out.skipTo(start)
    }
    rewritePattern(rewriting, id, bindVariable(rewriting))
    if (init) rewriting.emit(init)
    out.copyTo(end)
    const { name } = id as Identifier
    out.write(`;${home}.${name}=${name};`)
  })
}

/** Rewrites `import a = B.c`. */
function rewriteAlias(rewriting: RewriteContext, node: ImportEquals, home: string | undefined): void {
  const { out, code } = rewriting
  out.copyTo(node.start)
  out.write(home ? `${home}.${node.id.name}=` : `const ${node.id.name}=`)
  out.skipTo(findToken(code, "=", node.id.end) + 1)
  let name: AnyNode = node.moduleReference
  while (name.type === "TSQualifiedName") name = name.left
  rewriting.emit(name)
  rewriting.endStatement(node)
}
