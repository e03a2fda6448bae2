// Rewrites uses of names: a name that is stored in an object at run time becomes a property of that object.
import type { AnyNode, Identifier, UnaryExpression } from "acorn"
import { unwrapExpression } from "../destructuring.ts"
import { helpersVariable, scopeVariable } from "../name-storage.ts"
import type { RewriteContext } from "./rewrite-context.ts"
import { copyNameWithoutType } from "./strip-types.ts"

export function createNameRewriter(context: RewriteContext) {
  const { code, out, storage, analysis, emit } = context
  let typeofOperand: AnyNode | undefined
  let deleteOperand: AnyNode | undefined

  function emitName(node: Identifier): void {
    const reference = analysis.references.get(node)
    if (!reference) return copyNameWithoutType(out, code, node)
    const holder = node === deleteOperand ? scopeVariable : storage.holderOf(reference)
    if (!holder) return emitPlainName(node, storage.selfObject(reference))
    out.copyTo(node.start)
    if (node === typeofOperand) {
      out.write(`${helpersVariable}.peek(${scopeVariable},"${node.name}")`)
      return out.skipTo(node.end)
    }
    // A plain call of a property would pass the object as `this`.
    out.write(reference.call ? `(0,${holder}.` : `${holder}.`)
    copyNameWithoutType(out, code, node)
    if (!reference.call) return
    out.write(")")
    // The engine reports the position of such a call at its parenthesis.
    out.mapNextCharacterTo(node.start)
  }

  function emitPlainName(node: Identifier, replacement: string | undefined): void {
    if (!replacement) return copyNameWithoutType(out, code, node)
    out.copyTo(node.start)
    out.write(replacement)
    out.skipTo(node.end)
  }

  return {
    emitName,
    /** Rewrites the `name` of `{ name }`. */
    emitShorthand(node: Identifier): void {
      const reference = analysis.references.get(node)
      if (!reference || !(storage.holderOf(reference) ?? storage.selfObject(reference))) return
      out.copyTo(node.start)
      // As a plain key, `__proto__` would set the prototype.
      out.write(node.name === "__proto__" ? `["__proto__"]:` : `${node.name}:`)
      emitName(node)
    },
    /** Rewrites a unary expression; `typeof name` and `delete name` need care. */
    emitUnary({ operator, argument }: UnaryExpression): void {
      const operand = unwrapExpression(argument)
      if (operand.type !== "Identifier") return emit(argument)
      const reference = analysis.references.get(operand)
      // `typeof` of a missing name is no error.
      if (operator === "typeof" && reference && storage.holderOf(reference) === scopeVariable) typeofOperand = operand
      if (operator === "delete") {
        const scope = reference?.scope
        if (scope && scope !== analysis.cell) context.fail("A local variable cannot be deleted", operand)
        deleteOperand = operand
      }
      emit(argument)
    },
  }
}
