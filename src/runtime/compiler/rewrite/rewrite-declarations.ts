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

/** Rewrites a declaration. Its names become properties of the object `holder`, or stay variables if that is
 *  undefined. */
export function rewriteDeclaration(context: RewriteContext, node: AnyNode, holder: string | undefined): void {
  const { out } = context
  switch (node.type) {
    case "VariableDeclaration":
      rewriteVariables(context, node, holder)
      context.endStatement(node)
      return writeDefaultsCheck(context, node, holder)
    case "FunctionDeclaration":
      // The engine hoists the function; the prologue copies it to the holder.
      return rewriteFunction(context, node)
    case "ClassDeclaration":
      if (!holder || !node.id) return rewriteClass(context, node)
      out.copyTo(node.start)
      out.write(`${holder}.${node.id.name}=`)
      rewriteClass(context, node)
      out.copyTo(node.end)
      return out.write(";")
    case "TSEnumDeclaration":
      return lowerEnum(context, node, holder)
    case "TSModuleDeclaration":
      return lowerNamespace(context, node, holder)
    case "TSImportEqualsDeclaration":
      return rewriteAlias(context, node, holder)
    default:
      context.emit(node)
  }
}

/** A `var` belongs to the cell from any depth, except inside a function. */
export function variableHolder({ depth }: RewriteContext, { kind }: VariableDeclaration): string | undefined {
  return kind === "var" && depth === 0 ? scopeVariable : undefined
}

/** Rewrites the declarators of a declaration, without the end of the statement. */
export function rewriteVariables(context: RewriteContext, node: VariableDeclaration, holder: string | undefined): void {
  if (!holder) {
    for (const { id, init } of node.declarations) {
      rewritePattern(context, id, bindVariable(context))
      if (init) context.emit(init)
      const check = node.kind === "var" ? context.checkDefaults([id]) : undefined
      if (!check || !init) continue
      context.out.copyTo(init.end)
      context.out.write(`,${checkVariable}=${check}`)
    }
  } else if (node.kind === "using" || node.kind === "await using") declareResources(context, node, holder)
  else assignProperties(context, node, holder)
}

/** `let` and `const` are never the single statement of an `if`, so another statement may follow. */
function writeDefaultsCheck(
  context: RewriteContext,
  { kind, declarations }: VariableDeclaration,
  holder: string | undefined,
): void {
  const check = holder || kind === "var" ? undefined : context.checkDefaults(declarations.map(({ id }) => id))
  if (check) context.out.write(`${check};`)
}

/** `let a = 1, { b } = c` becomes `holder.a = 1, void({ b: holder.b } = c)`. */
function assignProperties(context: RewriteContext, node: VariableDeclaration, holder: string): void {
  const { out } = context
  out.copyTo(node.start)
  for (const { id, init, start, end } of node.declarations) {
    if (start === node.declarations[0]?.start) out.skipTo(start)
    out.copyTo(start)
    const { type } = id
    if (type === "Identifier" && init) {
      bindProperty(context, holder)(id, false)
      context.emitNamed(id.name, init)
    } else if (type === "Identifier" && node.kind !== "var") {
      bindProperty(context, holder)(id, false)
      out.write("=void 0")
    } else if (type === "Identifier") {
      // A `var` without a value does not change the variable.
      out.write("void 0")
      out.skipTo(end)
    } else {
      out.write("void(")
      rewritePattern(context, id, bindProperty(context, holder))
      if (init) context.emit(init)
      out.copyTo(end)
      out.write(")")
      const check = context.checkDefaults([id], ({ name }) => `${holder}.${name}`)
      if (check) out.write(`,void ${check}`)
    }
  }
}

/** `using a = b` stays a declaration, so that the resource is disposed of when the cell ends; the value is copied to
 *  the holder. */
function declareResources(context: RewriteContext, node: VariableDeclaration, holder: string): void {
  const { out } = context
  node.declarations.forEach(({ id, init, start, end }, index) => {
    if (index > 0) {
      out.write(`${node.kind} `)
      out.skipTo(start)
    }
    rewritePattern(context, id, bindVariable(context))
    if (init) context.emit(init)
    out.copyTo(end)
    const { name } = id as Identifier
    out.write(`;${holder}.${name}=${name};`)
  })
}

/** Rewrites `import a = B.c`. */
function rewriteAlias(context: RewriteContext, node: ImportEquals, holder: string | undefined): void {
  const { out, code } = context
  out.copyTo(node.start)
  out.write(holder ? `${holder}.${node.id.name}=` : `const ${node.id.name}=`)
  out.skipTo(findToken(code, "=", node.id.end) + 1)
  let name: AnyNode = node.moduleReference
  while (name.type === "TSQualifiedName") name = name.left
  context.emit(name)
  context.endStatement(node)
}
