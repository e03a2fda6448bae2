// Rewrites assignments and destructuring patterns.
import type { AnyNode, AssignmentExpression, Identifier, Pattern } from "acorn"
import { type BindName, bindProperty, bindVariable, type RewriteContext } from "./rewrite-context.ts"
import { skipNode, stripTyped } from "./strip-types.ts"

/** Rewrites the target of an assignment, of `++` or of a loop head. */
export function rewriteTarget(rewriting: RewriteContext, node: AnyNode): void {
  rewritePattern(rewriting, node, bindAssignmentTarget(rewriting))
}

/** Rewrites an assignment and adds a check of the default values in its pattern. */
export function rewriteAssignment(rewriting: RewriteContext, { left, right }: AssignmentExpression): void {
  const { out, storage: homes, analysis } = rewriting
  const check = rewriting.checkDefaults([left], assignedNameReader(rewriting))
  if (check) {
    out.copyTo(left.start)
    out.write("[")
  }
  rewriteTarget(rewriting, left)
  const reference = left.type === "Identifier" ? analysis.references.get(left) : undefined
  if (left.type === "Identifier" && reference && homes.objectOf(reference)) rewriting.emitNamed(left.name, right)
  else rewriting.emit(right)
  if (!check) return
  // The value of the assignment is its right side, which is evaluated before the check.
  out.copyTo(right.end)
  out.write(`,${check}][0]`)
}

/** Rewrites a name or a destructuring pattern; `bind` writes each name. */
export function rewritePattern(rewriting: RewriteContext, node: AnyNode, bind: BindName): void {
  const { out, code } = rewriting
  switch (node.type) {
    case "Identifier":
      bind(node, false)
      return
    case "ObjectPattern":
      for (const property of node.properties) {
        if (property.type === "RestElement") rewritePattern(rewriting, property, bind)
        else if (property.shorthand) rewriteShorthand(rewriting, property.value, bind)
        else {
          if (property.computed) rewriting.emit(property.key)
          rewritePattern(rewriting, property.value, bind)
        }
      }
      return skipNode(out, node.typeAnnotation)
    case "ArrayPattern":
      for (const element of node.elements) if (element) rewritePattern(rewriting, element, bind)
      return skipNode(out, node.typeAnnotation)
    case "RestElement":
      rewritePattern(rewriting, node.argument, bind)
      return skipNode(out, node.typeAnnotation)
    case "AssignmentPattern":
      rewriting.noteChecks(node)
      if (node.left.type === "Identifier") return rewriteDefault(rewriting, node, bind(node.left, false))
      rewritePattern(rewriting, node.left, bind)
      return rewriting.emit(node.right)
    case "TSParameterProperty": {
      const { parameter } = node
      out.copyTo(node.start)
      out.skipTo((parameter.type === "AssignmentPattern" ? parameter.left : parameter).start)
      return rewritePattern(rewriting, parameter, bind)
    }
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
      return stripTyped(out, code, node, (inner) => rewritePattern(rewriting, inner, bind))
    default:
      return rewriting.emit(node)
  }
}

function rewriteShorthand(rewriting: RewriteContext, node: Pattern, bind: BindName): void {
  if (node.type === "Identifier") bind(node, true)
  if (node.type !== "AssignmentPattern" || node.left.type !== "Identifier") return
  rewriting.noteChecks(node)
  rewriteDefault(rewriting, node, bind(node.left, true))
}

function rewriteDefault(
  rewriting: RewriteContext,
  { left, right }: { left: Pattern; right: AnyNode },
  isProperty: boolean,
) {
  if (isProperty && left.type === "Identifier") rewriting.emitNamed(left.name, right)
  else rewriting.emit(right)
}

/** Returns the code that reads a name to which a pattern assigned. */
export function assignedNameReader({ storage: homes, analysis }: RewriteContext): (node: Identifier) => string {
  return (node) => {
    const reference = analysis.references.get(node)
    const home = reference && homes.objectOf(reference)
    return home ? `${home}.${node.name}` : node.name
  }
}

function bindAssignmentTarget(rewriting: RewriteContext): BindName {
  const { out, storage: homes, analysis } = rewriting
  return (node, shorthand) => {
    const reference = analysis.references.get(node)
    const home = reference && homes.objectOf(reference)
    if (!home) return bindVariable(rewriting)(node, shorthand)
    if (!homes.isConstant(reference)) return bindProperty(rewriting, home)(node, shorthand)
    out.copyTo(node.start)
    // This code makes the engine throw its own error at the moment of the assignment.
    const property = `({get _(){return ${home}.${node.name}},set _(_){const constant=0;constant=_}})._`
    out.write(shorthand ? `${node.name}:${property}` : property)
    out.skipTo(node.end)
    return true
  }
}
