// Rewrites functions and classes: types removed, a guard at each function entry.
import type { AnyNode, Class, Function as FunctionNode, MethodDefinition, PropertyDefinition } from "acorn"
import { callsSuper } from "../parse-cell.ts"
import { rewritePattern } from "./rewrite-assignments.ts"
import { bindVariable, countdownCode, type RewriteContext } from "./rewrite-context.ts"
import {
  arrowOffset,
  findToken,
  skipNode,
  stripClassHead,
  stripMemberType,
  stripModifiers,
  stripThisParameter,
} from "./strip-types.ts"

/** Rewrites a function of any form. `derived`: it is the constructor of a derived class. */
export function rewriteFunction(context: RewriteContext, node: FunctionNode, derived = false): void {
  const { code, out } = context
  const isArrow = node.type === "ArrowFunctionExpression"
  context.depth++
  if (isArrow && node.typeParameters) {
    // No line break may come between `async` or `return` and the parenthesis.
    out.copyTo(node.typeParameters.start)
    out.write("(")
    out.skipTo(findToken(code, "(", node.typeParameters.end) + 1)
  } else skipNode(out, node.typeParameters)
  rewriteParameters(context, node)
  if (isArrow) rewriteArrow(context, node)
  else {
    skipNode(out, node.returnType)
    rewriteBody(context, node, derived)
  }
  context.depth--
}

/** Rewrites a class from its keyword to its end. */
export function rewriteClass(context: RewriteContext, node: Class): void {
  const { code, out } = context
  refuseDecorators(context, node)
  stripClassHead(out, code, node, () => node.superClass && context.emit(node.superClass))
  for (const member of node.body.body as AnyNode[]) {
    if (member.type === "PropertyDefinition") rewriteField(context, member)
    else if (member.type === "MethodDefinition") rewriteMethod(context, member, Boolean(node.superClass))
    else if (member.type === "StaticBlock") {
      context.depth++
      context.emitStatements(member.body)
      context.depth--
    } else skipNode(out, member)
  }
}

function rewriteField(context: RewriteContext, node: PropertyDefinition): void {
  const { code, out } = context
  refuseDecorators(context, node)
  if (node.accessor) context.fail("`accessor` fields are not supported in a cell; write a getter and a setter", node)
  if (node.abstract || node.declare) return skipNode(out, node)
  stripModifiers(out, code, node)
  if (node.computed) context.emit(node.key)
  stripMemberType(out, code, node)
  if (node.value) context.emit(node.value)
  context.endStatement(node)
}

function rewriteMethod(context: RewriteContext, node: MethodDefinition, derived: boolean): void {
  const { code, out } = context
  refuseDecorators(context, node)
  const value: AnyNode = node.value
  if (value.type !== "FunctionExpression") return skipNode(out, node)
  stripModifiers(out, code, node)
  if (node.computed) context.emit(node.key)
  stripMemberType(out, code, node)
  rewriteFunction(context, value, derived && node.kind === "constructor")
}

function rewriteParameters(context: RewriteContext, node: FunctionNode): void {
  const { code, out } = context
  stripThisParameter(out, code, node)
  for (const param of node.params) {
    if (param.type === "Identifier" && param.name === "this") continue
    rewritePattern(context, param, bindVariable(context))
  }
}

function rewriteArrow(context: RewriteContext, node: FunctionNode): void {
  const { code, out } = context
  const arrow = arrowOffset(code, node)
  if (node.returnType) {
    // No line break may come before the arrow, so it is written where the type began.
    out.copyTo(node.returnType.start)
    out.write("=>")
    out.skipTo(arrow + 2)
  } else out.copyTo(arrow + 2)
  const entry = functionEntryCode(context, node)
  if (node.body.type === "BlockStatement") return context.emitBlock(node.body, entry)
  out.write(`{${entry}return(`)
  context.emit(node.body)
  out.copyTo(node.end)
  out.write(")}")
}

/** The code at a function's start: the countdown, and the check of its parameters' default values. */
function functionEntryCode(context: RewriteContext, { body, params }: FunctionNode): string {
  const check = context.checkDefaults(params)
  return countdownCode(body) + (check ? `${check};` : "")
}

function rewriteBody(context: RewriteContext, node: FunctionNode, derived: boolean): void {
  if (node.body.type !== "BlockStatement") return
  const guard = functionEntryCode(context, node)
  const properties = node.params.map(parameterProperty).filter((name) => name !== undefined)
  const assignments = properties.map((name) => `this.${name}=${name};`).join("")
  if (!derived || !assignments) return context.emitBlock(node.body, guard + assignments)
  // In a derived class there is no `this` before the call of `super`.
  const after = node.body.body.findIndex(callsSuper) + 1
  if (after === 0) {
    context.fail("A constructor with parameter properties must call super() in a statement of its own", node)
  }
  context.emitBlock({ ...node.body, body: node.body.body.slice(0, after) }, guard)
  context.out.write(assignments)
  context.emitStatements(node.body.body.slice(after))
}

function parameterProperty(param: AnyNode): string | undefined {
  if (param.type !== "TSParameterProperty") return undefined
  const { parameter } = param
  const target = parameter.type === "AssignmentPattern" ? parameter.left : parameter
  return target.type === "Identifier" ? target.name : undefined
}

function refuseDecorators(context: RewriteContext, { decorators }: { decorators?: { start: number }[] }): void {
  const first = decorators?.[0]
  if (first) context.fail("Decorators are not supported in a cell; call the function on the class instead", first)
}

/** Returns true for a function or class expression without a name. */
export function isNameless(node: AnyNode): boolean {
  if (node.type === "ArrowFunctionExpression") return true
  return (node.type === "FunctionExpression" || node.type === "ClassExpression") && !node.id
}
