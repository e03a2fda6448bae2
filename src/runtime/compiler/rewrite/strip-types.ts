// Removes types. The rest must keep its meaning: a line break can end a statement, so a break left by a type that
// spanned lines is moved to where it has no effect.
import type { AnyNode, Class, Function as FunctionNode, Identifier, MethodDefinition, PropertyDefinition } from "acorn"
import { isLineBreak } from "../text-positions.ts"
import type { TypedExpression } from "../typescript-ast.ts"
import type { CodeOutput } from "./code-output.ts"

/** Copies an identifier without the `?`, `!` or type after it. */
export function copyNameWithoutType(out: CodeOutput, code: string, node: Identifier): void {
  const hasType = node.typeAnnotation !== undefined || node.optional === true
  out.copyTo(hasType ? nameEnd(code, node) : node.end)
  out.skipTo(node.end)
}

export function skipNode(out: CodeOutput, node: { start: number; end: number } | undefined): void {
  if (!node) return
  out.copyTo(node.start)
  out.skipTo(node.end)
}

/** `x as T`, `x satisfies T`, `x!`, `<T>x`, `x<T>`: emits only the expression. */
export function stripTyped(out: CodeOutput, code: string, node: TypedExpression, emit: (node: AnyNode) => void): void {
  out.copyTo(node.start)
  switch (node.type) {
    case "TSTypeAssertion":
      // In parentheses, so that neither `return <A\n>b` nor `<A>{}` at the start of a statement changes its meaning.
      out.write("(")
      out.skipTo(findToken(code, ">", node.typeAnnotation?.end ?? node.start) + 1)
      emit(node.expression)
      out.copyTo(node.end)
      return out.write(")")
    case "TSNonNullExpression":
      emit(node.expression)
      out.copyTo(node.end - 1)
      return out.skipTo(node.end)
    case "TSInstantiationExpression":
      emit(node.expression)
      return skipNode(out, node.typeArguments)
    default:
      emit(node.expression)
      out.copyTo(findToken(code, node.type === "TSAsExpression" ? "as" : "satisfies", node.expression.end))
      out.skipTo(node.end)
  }
}

/** Leaves out a function's `this` parameter. */
export function stripThisParameter(out: CodeOutput, code: string, node: FunctionNode): void {
  const [first, second] = node.params
  if (first?.type !== "Identifier" || first.name !== "this") return
  out.copyTo(first.start)
  out.skipTo(second ? second.start : findToken(code, ")", first.end))
}

/** Leaves out `abstract` before `class`, type parameters and `implements`. */
export function stripClassHead(out: CodeOutput, code: string, node: Class, emitSuper: () => void): void {
  if (node.abstract) {
    out.copyTo(node.start)
    out.skipTo(findToken(code, "class", node.start))
  }
  skipNode(out, node.typeParameters)
  emitSuper()
  skipNode(out, node.superTypeParameters)
  const first = node.implements?.[0]
  const last = node.implements?.at(-1)
  if (!first || !last) return
  const before = node.superTypeParameters ?? node.superClass ?? node.typeParameters ?? node.id
  out.copyTo(findToken(code, "implements", before ? before.end : findToken(code, "class", node.start) + "class".length))
  out.skipTo(last.end)
}

/** Leaves out `private`, `readonly` and other modifiers before the name of a class member. */
export function stripModifiers(out: CodeOutput, code: string, node: MethodDefinition | PropertyDefinition): void {
  const { accessibility, readonly, override } = node
  if (!accessibility && !readonly && !override) return
  let at = node.start
  while (at < node.key.start) {
    const end = wordEnd(code, at)
    if (modifiers.has(code.slice(at, end))) {
      out.copyTo(at)
      out.skipTo(end)
    }
    at = skipTrivia(code, Math.max(end, at + 1))
  }
}

/** Leaves out `?`, `!` and the type after the name of a class member. */
export function stripMemberType(out: CodeOutput, code: string, node: MethodDefinition | PropertyDefinition): void {
  let at = node.key.end
  if (node.computed) at = findToken(code, "]", at) + 1
  out.copyTo(at)
  if (node.optional || ("definite" in node && node.definite)) {
    const mark = findToken(code, node.optional ? "?" : "!", at)
    out.copyTo(mark)
    out.skipTo(mark + 1)
  }
  if (node.type === "PropertyDefinition") skipNode(out, node.typeAnnotation)
  else skipNode(out, node.typeParameters)
}

/** The offset of the arrow. Only parentheses, commas and comments come between it and the node before it. */
export function arrowOffset(code: string, node: FunctionNode): number {
  const before = node.returnType ?? node.params.at(-1) ?? node.typeParameters
  return findToken(code, "=>", before ? before.end : node.start)
}

/** The offset of the next occurrence of a text outside comments. */
export function findToken(code: string, text: string, from: number): number {
  for (let at = skipTrivia(code, from); at < code.length; at = skipTrivia(code, at + 1)) {
    if (code.startsWith(text, at)) return at
  }
  return code.length
}

const modifiers = new Set(["public", "private", "protected", "readonly", "override"])

function skipTrivia(code: string, from: number): number {
  let at = from
  for (;;) {
    if (code.startsWith("/*", at)) at = code.indexOf("*/", at) + 2
    else if (code.startsWith("//", at)) {
      while (at < code.length && !isLineBreak(code.charCodeAt(at))) at++
    } else if (at < code.length && code.charCodeAt(at) <= 32) at++
    else return at
  }
}

function nameEnd(code: string, node: Identifier): number {
  const end = node.start + node.name.length
  // A name written with escapes is longer in the source than its value.
  return code.startsWith(node.name, node.start) ? end : wordEnd(code, node.start)
}

function wordEnd(code: string, from: number): number {
  let at = from
  while (at < code.length && /[\w$\\{}\u0080-\uffff]/.test(code.charAt(at))) at++
  return at
}
