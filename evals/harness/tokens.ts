// Counts the tokens of real requests and answers, and what they cost with and without a prompt cache.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { fenced, type Message } from "karst"
import type { Model, ModelPart, ModelRequest } from "karst/models"
import { root } from "../../scripts/tools.ts"

/** The tokenizer and its version, for reports. */
export const tokenizer = `o200k_base of gpt-tokenizer ${packageVersion("gpt-tokenizer")}`

/** Relative prices of a token. Common price lists ask five to eight times as much for output as for input, and a tenth
 *  for input that is read from a cache. The price of writing to a cache is left out. */
export const rates = { input: 1, cachedInput: 0.1, output: 5 }

/** Role and separators of one message. */
export const messageFrame = 4

/** What one conversation cost. */
export interface Measured {
  modelCalls: number
  prompt: number
  /** The tokens of the tools and the system prompt, which every request has. */
  fixed: number
  /** The tokens of the prompts that are a prefix of the previous request of the conversation. */
  cached: number
  completion: number
  total: number
  /** The largest prompt together with its answer. */
  peakContext: number
  /** In units of one input token. */
  cost: number
  costWithCache: number
}

export interface MeasuredModel extends Model {
  /** The sums of all requests so far. */
  measured(): Measured
}

/** Wraps the model of one conversation and counts its requests and answers. */
export function measureModel(model: Model): MeasuredModel {
  const sums = { modelCalls: 0, prompt: 0, fixed: 0, cached: 0, completion: 0, peakContext: 0 }
  let previous: readonly string[] = []

  async function* stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const pieces = requestPieces(request)
    const sizes = pieces.map(countPiece)
    const prompt = sum(sizes)
    const differs = pieces.findIndex((piece, index) => piece !== previous[index])
    const cached = sum(differs === -1 ? sizes : sizes.slice(0, differs))
    previous = pieces
    sums.fixed = sum(sizes.slice(0, pieces.length - messagePieceCount(request)))
    let text = ""
    for await (const part of model.stream(request)) {
      if (part.type === "text" || part.type === "reasoning") text += part.text
      if (part.type === "tool-call") text += callText(part)
      // Readers may stop after the last part, so the answer is counted before they get it.
      if (part.type === "finish") add(prompt, cached, countTokens(text))
      yield part
    }
  }

  function add(prompt: number, cached: number, completion: number): void {
    sums.modelCalls++
    sums.prompt += prompt
    sums.cached += cached
    sums.completion += completion
    sums.peakContext = Math.max(sums.peakContext, prompt + completion)
  }

  return {
    ...model,
    stream,
    measured() {
      const { prompt, cached, completion } = sums
      return {
        ...sums,
        total: prompt + completion,
        cost: prompt * rates.input + completion * rates.output,
        costWithCache: (prompt - cached) * rates.input + cached * rates.cachedInput + completion * rates.output,
      }
    },
  }
}

export function countTokens(text: string): number {
  return encode(text).length
}

// The same messages occur in many requests.
const counted = new Map<string, number>()

function countPiece(piece: string): number {
  const known = counted.get(piece)
  if (known !== undefined) return known
  if (counted.size > 20_000) counted.clear()
  const tokens = countTokens(piece) + messageFrame
  counted.set(piece, tokens)
  return tokens
}

/** The texts of a request in the order in which a provider reads them: tools, system prompt, messages. Each tool result
 *  is a message of its own. */
export function requestPieces({ system, tools = [], messages }: ModelRequest): string[] {
  const specs = tools.map(({ name, description, input }) => ({
    type: "function",
    function: { name, description, parameters: input },
  }))
  return [...(specs.length > 0 ? [JSON.stringify(specs)] : []), system, ...messages.flatMap(messagePieces)]
}

function messagePieceCount({ messages }: ModelRequest): number {
  return messages.reduce((count, message) => count + messagePieces(message).length, 0)
}

function messagePieces(message: Message): string[] {
  if (message.role !== "result") return [message.parts.map(partText).filter(Boolean).join("\n")]
  return message.parts.map(partText)
}

function partText(part: Message["parts"][number]): string {
  switch (part.type) {
    case "code":
      return fenced(part)
    case "tool-call":
      return callText(part)
    case "image":
      return ""
    default:
      return part.text
  }
}

function callText({ name, input }: { name: string; input: unknown }): string {
  return JSON.stringify({ name, arguments: input })
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function packageVersion(name: string): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(root, "node_modules", name, "package.json"), "utf8"),
  )
  return version
}
