// Reads the parameters of a running function from its text, which has no types. Native functions show no parameters.
import { types } from "node:util"
import { tokenizer } from "acorn"
import { attempt } from "../../core/attempt.ts"
import { parseCell } from "../compiler/parse-cell.ts"
import { defaultResult, parametersOf } from "./parse-signature.ts"
import { type Parameter, type Signature, unknown } from "./type-tree.ts"

export function functionSignature(call: object): Signature {
  const known = signatures.get(call)
  if (known) return known
  const source = Function.prototype.toString.call(call)
  const parameters = nativeBody.test(source) ? undefined : attempt(() => readParameters(source))
  const signature: Signature = {
    parameters: parameters ?? [{ name: "args", type: { kind: "array", element: unknown }, rest: true }],
    returns: defaultResult(types.isAsyncFunction(call), types.isGeneratorFunction(call)),
  }
  signatures.set(call, signature)
  return signature
}

/** Returns the signature for a declaration. Running code does not show which parameters are optional, so those of
 *  unknown type are shown as optional: a required one could be wrong. */
export function inferredSignature(call: object): Signature {
  return withUnknownOptional(functionSignature(call))
}

export function withUnknownOptional(signature: Signature): Signature {
  return { ...signature, parameters: signature.parameters.map(optionalIfUnknown) }
}

function optionalIfUnknown(parameter: Parameter): Parameter {
  const { type, rest } = parameter
  if (type.kind !== "object") return rest || type !== unknown ? parameter : { ...parameter, optional: true }
  const members = type.members.map((member) => (member.type === unknown ? { ...member, optional: true } : member))
  return { ...parameter, type: { ...type, members } }
}

export function isNativeFunction(call: object): boolean {
  return nativeBody.test(Function.prototype.toString.call(call))
}

const nativeBody = /\{\s*\[native code\]\s*\}$/

const signatures = new WeakMap<object, Signature>()

/** Parses only the text before the body, which may be long or invalid outside its class. */
function readParameters(source: string): Signature["parameters"] {
  const code = `(function ${parameterText(source)} {})`
  const [statement] = parseCell(code).program.body
  if (statement?.type !== "ExpressionStatement" || statement.expression.type !== "FunctionExpression") {
    throw new SyntaxError("This is no list of parameters.")
  }
  return parametersOf(statement.expression.params, code)
}

function parameterText(source: string): string {
  let depth = 0
  let start = -1
  let name = ""
  for (const { type, start: from, end } of tokenizer(source, { ecmaVersion: "latest" })) {
    const token = type.label
    if (start < 0) {
      if (token === "=>") return `(${name})`
      if (token === "name") name = source.slice(from, end)
      // Brackets before the parameters enclose a computed name.
      if (token === "[") depth++
      if (token === "]") depth--
      if (token !== "(" || depth > 0) continue
      start = from
    }
    if (token === "(") depth++
    if (token === ")" && --depth === 0) return source.slice(start, end)
  }
  throw new SyntaxError("There are no parameters.")
}
