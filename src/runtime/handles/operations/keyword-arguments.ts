import { agentCallOptions } from "../../bindings/cell-agent.ts"
import type { FunctionBinding } from "../../bindings.ts"
import { declarationSchema } from "../../declare/declaration-schema.ts"
import { functionSignature } from "../../declare/function-signature.ts"
import { attempt, parseSignature } from "../../declare/parse-signature.ts"
import { isTuple } from "../../schema.ts"

/** A function as keyword arguments see it. */
export interface CalledFunction {
  name: string
  call: object
  /** The object whose method it is. */
  owner?: unknown
  target?: FunctionBinding | undefined
}

/** Puts arguments that were passed by keyword in the places of the parameters of the same names. Of a function with an
 *  object schema, and of an agent's methods, the keywords together are one object. */
export function placeKeywordArguments(
  args: readonly unknown[],
  named: Readonly<Record<string, unknown>>,
  signed: CalledFunction,
): readonly unknown[] {
  const words = Object.keys(named)
  if (words.length === 0) return args
  if (args.length === 0 && takesObject(signed.target)) return [named]
  const known = parameterNames(signed)
  // An agent's methods take their options, and new values, as the last parameter.
  if (agentCallOptions(signed.owner) && !words.some((word) => known.includes(word))) {
    return [...args, ...new Array(Math.max(0, known.length - 1 - args.length)).fill(undefined), named]
  }
  const result = [...args]
  for (const word of words) {
    const place = known.indexOf(word)
    if (place < 0) {
      const list = known.join(", ") || "none"
      throw new TypeError(`${signed.name}() got an unexpected keyword argument '${word}'; it takes ${list}`)
    }
    if (place < args.length) throw new TypeError(`${signed.name}() got multiple values for argument '${word}'`)
    result[place] = named[word]
  }
  return result
}

function takesObject(target: FunctionBinding | undefined): boolean {
  const input = target?.options.input
  return input !== undefined && !isTuple(input) && attempt(() => declarationSchema(input, "input").type) === "object"
}

function parameterNames({ name, call, target }: CalledFunction): string[] {
  const text = target?.options.signature
  const written = text === undefined ? undefined : attempt(() => parseSignature(text, name))
  return (written ?? functionSignature(call)).parameters.map((parameter) => parameter.name)
}
