// Places arguments that a peer passed by keyword into the parameters of a host function.
import { attempt } from "../../../core/attempt.ts"
import { agentCallOptions } from "../../bindings/cell-agent.ts"
import type { FunctionBinding } from "../../bindings.ts"
import { declarationSchema } from "../../declare/declaration-schema.ts"
import { functionSignature } from "../../declare/function-signature.ts"
import { parseSignature } from "../../declare/parse-signature.ts"
import { isTuple } from "../../schema.ts"

export interface CalledFunction {
  name: string
  call: object
  /** The object that has the function as a method. */
  owner?: unknown
  target?: FunctionBinding | undefined
}

/** Each keyword argument goes to the parameter of that name. For a function with an object schema and for an agent's
 *  methods, all keywords together become one object. */
export function placeKeywordArguments(
  args: readonly unknown[],
  named: Readonly<Record<string, unknown>>,
  signed: CalledFunction,
): readonly unknown[] {
  const words = Object.keys(named)
  if (words.length === 0) return args
  if (args.length === 0 && takesObject(signed.target)) return [named]
  const known = parameterNames(signed)
  // An agent's methods take their options or new values as the last parameter.
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
