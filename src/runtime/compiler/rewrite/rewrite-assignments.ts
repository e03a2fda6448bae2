// Rewrites assignments and destructuring patterns.
import type { AnyNode, AssignmentExpression, Identifier, Pattern } from "acorn"
import { type BindName, bindProperty, bindVariable, type RewriteContext } from "./rewrite-context.ts"
import { skipNode, stripTyped } from "./strip-types.ts"

/** Rewrites the target of an assignment, of `++` or of a loop head. */
export function rewriteTarget(context: RewriteContext, node: AnyNode): void {
  rewritePattern(context, node, bindAssignmentTarget(context))
}

/** Rewrites an assignment and adds a check of the default values in its pattern. */
export function rewriteAssignment(context: RewriteContext, { left, right }: AssignmentExpression): void {
  const { out, storage, analysis } = context
  const check = context.checkDefaults([left], assignedNameReader(context))
  if (check) {
    out.copyTo(left.start)
    out.write("[")
  }
  rewriteTarget(context, left)
  const reference = left.type === "Identifier" ? analysis.references.get(left) : undefined
  if (left.type === "Identifier" && reference && storage.holderOf(reference)) context.emitNamed(left.name, right)
  else context.emit(right)
  if (!check) return
  // The value of the assignment is its right side, which is evaluated before the check.
  out.copyTo(right.end)
  out.write(`,${check}][0]`)
}

/** Rewrites a name or a destructuring pattern; `bind` writes each name. */
export function rewritePattern(context: RewriteContext, node: AnyNode, bind: BindName): void {
  const { out, code } = context
  switch (node.type) {
    case "Identifier":
      bind(node, false)
      return
    case "ObjectPattern":
      for (const property of node.properties) {
        if (property.type === "RestElement") rewritePattern(context, property, bind)
        else if (property.shorthand) rewriteShorthand(context, property.value, bind)
        else {
          if (property.computed) context.emit(property.key)
          rewritePattern(context, property.value, bind)
        }
      }
      return skipNode(out, node.typeAnnotation)
    case "ArrayPattern":
      for (const element of node.elements) if (element) rewritePattern(context, element, bind)
      return skipNode(out, node.typeAnnotation)
    case "RestElement":
      rewritePattern(context, node.argument, bind)
      return skipNode(out, node.typeAnnotation)
    case "AssignmentPattern":
      context.noteChecks(node)
      if (node.left.type === "Identifier") return rewriteDefault(context, node, bind(node.left, false))
      rewritePattern(context, node.left, bind)
      return context.emit(node.right)
    case "TSParameterProperty": {
      const { parameter } = node
      out.copyTo(node.start)
      out.skipTo((parameter.type === "AssignmentPattern" ? parameter.left : parameter).start)
      return rewritePattern(context, parameter, bind)
    }
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
      return stripTyped(out, code, node, (inner) => rewritePattern(context, inner, bind))
    default:
      return context.emit(node)
  }
}

function rewriteShorthand(context: RewriteContext, node: Pattern, bind: BindName): void {
  if (node.type === "Identifier") bind(node, true)
  if (node.type !== "AssignmentPattern" || node.left.type !== "Identifier") return
  context.noteChecks(node)
  rewriteDefault(context, node, bind(node.left, true))
}

function rewriteDefault(
  context: RewriteContext,
  { left, right }: { left: Pattern; right: AnyNode },
  isProperty: boolean,
) {
  if (isProperty && left.type === "Identifier") context.emitNamed(left.name, right)
  else context.emit(right)
}

/** Returns the code that reads a name to which a pattern assigned. */
export function assignedNameReader({ storage, analysis }: RewriteContext): (node: Identifier) => string {
  return (node) => {
    const reference = analysis.references.get(node)
    const holder = reference && storage.holderOf(reference)
    return holder ? `${holder}.${node.name}` : node.name
  }
}

function bindAssignmentTarget(context: RewriteContext): BindName {
  const { out, storage, analysis } = context
  return (node, shorthand) => {
    const reference = analysis.references.get(node)
    const holder = reference && storage.holderOf(reference)
    if (!holder) return bindVariable(context)(node, shorthand)
    if (!storage.isConstant(reference)) return bindProperty(context, holder)(node, shorthand)
    out.copyTo(node.start)
    // This code makes the engine throw its own error at the moment of the assignment.
    const property = `({get _(){return ${holder}.${node.name}},set _(_){const constant=0;constant=_}})._`
    out.write(shorthand ? `${node.name}:${property}` : property)
    out.skipTo(node.end)
    return true
  }
}
