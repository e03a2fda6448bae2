// A model with scripted answers, for tests and examples.

import * as check from "../core/checks/check-options.ts"
import { mustBePrice } from "../core/checks/limit-checks.ts"
import { ConfigError } from "../core/errors.ts"
import { type Message, messageText } from "../core/message.ts"
import { abortError } from "../core/run.ts"
import { oneLine } from "../core/text/tagged-text.ts"
import { type Price, type Usage, withCost } from "../core/usage.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"

/** One answer: a text, its parts, an error to throw, or a function of the request that returns one of these. An
 *  error among parts is thrown at its position. A missing `finish` is added. */
export type ScriptedStep = string | readonly (ModelPart | Error)[] | Error | ScriptedAnswer

export type ScriptedAnswer = (request: ModelRequest) => ScriptedStep | Promise<ScriptedStep>

export interface ScriptedOptions {
  /** Default `scripted/model`. */
  id?: string | undefined
  /** In tokens. */
  contextWindow?: number | undefined
  /** In USD per million tokens. */
  price?: Price | undefined
  /** The usage that every answer reports, unless its own `finish` has one. Default: unknown. */
  usage?: Usage | undefined
  /** Text is split into pieces of this many characters. Default: not split. */
  chunkChars?: number | undefined
}

const scriptedChecks: check.OptionChecks<ScriptedOptions> = {
  id: check.mustBeText,
  contextWindow: check.mustBeIntegerFrom(1),
  price: mustBePrice,
  usage: check.mustBeObject,
  chunkChars: check.mustBeIntegerFrom(1),
}

export interface ScriptedModel extends Model {
  /** All requests so far. */
  readonly requests: readonly ModelRequest[]
  /** The number of unused steps. */
  readonly remaining: number
}

/** Creates a model that returns the given steps in order. A single function answers every request. */
export function scriptedModel(
  steps: readonly ScriptedStep[] | ScriptedAnswer,
  options: ScriptedOptions = {},
): ScriptedModel {
  check.checkOptions("scriptedModel()", options, scriptedChecks)
  const { id = "scripted/model", contextWindow, price, usage = { complete: false }, chunkChars = Infinity } = options
  const requests: ModelRequest[] = []

  function nextStep({ messages }: ModelRequest): ScriptedStep {
    if (typeof steps === "function") return steps
    const used = steps.length - model.remaining
    const step = steps[used]
    if (step !== undefined) {
      model.remaining--
      return step
    }
    throw new ConfigError(
      `The scripted model "${id}" was asked for answer ${used + 1} and has only ${steps.length}. ` +
        `Add a step, or check why the agent goes on. The last message is: ${lastText(messages)}`,
    )
  }

  function next(request: ModelRequest): Promise<readonly (ModelPart | Error)[]> {
    requests.push(request)
    return partsOf(nextStep(request), request, usage)
  }

  const model: ScriptedModel & { remaining: number } = {
    id,
    contextWindow,
    price,
    requests,
    remaining: typeof steps === "function" ? Infinity : steps.length,
    stream: (request) => streamAnswer(request, next, chunkChars, price),
  }
  return model
}

function lastText(messages: readonly Message[]): string {
  const last = messages.at(-1)
  return last ? oneLine(messageText(last)) : "(none)"
}

// Not a closure of the function above: V8 retains the scope of a generator function until the old generation is
// collected.
async function* streamAnswer(
  request: ModelRequest,
  next: (request: ModelRequest) => Promise<readonly (ModelPart | Error)[]>,
  chunkChars: number,
  price: Price | undefined,
): AsyncGenerator<ModelPart> {
  const { signal } = request
  if (signal?.aborted) throw abortError(signal)
  for (const part of await next(request)) {
    if (part instanceof Error) throw part
    for (const piece of splitTextPart(part, chunkChars)) {
      if (signal?.aborted) throw abortError(signal)
      yield piece.type === "finish" ? { ...piece, usage: withCost(piece.usage, price) } : piece
    }
  }
}

async function partsOf(
  step: ScriptedStep,
  request: ModelRequest,
  usage: Usage,
): Promise<readonly (ModelPart | Error)[]> {
  if (typeof step === "function") return partsOf(await step(request), request, usage)
  if (step instanceof Error) return [step]
  const parts: readonly (ModelPart | Error)[] = typeof step === "string" ? [{ type: "text", text: step }] : step
  const last = parts.at(-1)
  if (last instanceof Error || last?.type === "finish") return parts
  const calls = parts.some((part) => !(part instanceof Error) && part.type === "tool-call")
  return [...parts, { type: "finish", reason: calls ? "tool-calls" : "stop", usage }]
}

/** Splits a text part into parts with at most `size` characters each, never within a character. */
export function* splitTextPart(part: ModelPart, size: number): Generator<ModelPart> {
  if (part.type !== "text" || part.text.length <= size) {
    yield part
    return
  }
  let start = 0
  while (start < part.text.length) {
    let end = Math.min(part.text.length, start + Math.max(1, size))
    if (isHighSurrogate(part.text.charCodeAt(end - 1)) && end < part.text.length) end++
    yield { type: "text", text: part.text.slice(start, end) }
    start = end
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
