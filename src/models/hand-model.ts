// A model that a person plays: each request is written to a text file, and its answer is read from another file.
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as check from "../core/checks/check-options.ts"
import { mustBePrice } from "../core/checks/limit-checks.ts"
import { ConfigError } from "../core/errors.ts"
import { makePrivateFolder, replacePrivateFile, writeNewPrivateFile } from "../core/private-files.ts"
import { abortError } from "../core/run.ts"
import { type Price, type Usage, withCost } from "../core/usage.ts"
import { parseHandAnswer, requestSections, sectionText } from "./hand-texts.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"

export interface HandModelOptions {
  /** The folder of the requests (`0001-request.md`) and the answers (`0001-answer.md`). It is created if missing. */
  dir: string
  /** Default `hand/model`. */
  id?: string | undefined
  contextWindow?: number | undefined
  price?: Price | undefined
  /** Counts the tokens of a text, to report the usage. Default: the usage is unknown. */
  countTokens?: ((text: string) => number) | undefined
}

const handChecks: check.OptionChecks<HandModelOptions> = {
  dir: check.mustBeText,
  id: check.mustBeText,
  contextWindow: check.mustBeIntegerFrom(1),
  price: mustBePrice,
  countTokens: check.mustBeFunction,
}

/** Creates a model whose answers a person writes. The request file shows what is new since the previous request, or the
 *  whole request if it does not continue the previous one. The answer file is plain text; a tool call is a block
 *  tagged `tool-call` that contains `{ "name": …, "input": … }`. */
export function handModel(options: HandModelOptions): Model {
  check.checkOptions("handModel()", options, handChecks)
  if (!options.dir) throw new ConfigError("handModel(): `dir` is missing. Name a folder for the requests and answers.")
  const { dir, id = "hand/model", contextWindow, price, countTokens } = options
  let previous: readonly string[] = []

  async function* stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const signal = request.signal ?? new AbortController().signal
    if (signal.aborted) throw abortError(signal)
    const sections = requestSections(request)
    const texts = sections.map(sectionText)
    const continues = previous.length > 0 && previous.every((text, index) => text === texts[index])
    const shown = continues ? texts.slice(previous.length) : texts
    previous = texts
    const hasTools = (request.tools ?? []).length > 0
    const number = await writeRequest(dir, shown, { continues, hasTools })
    const { text, parts } = await readAnswer(dir, number, signal)
    yield* parts
    const calls = parts.some((part) => part.type === "tool-call")
    const usage: Usage = countTokens
      ? { input: countTokens(texts.join("\n")), output: countTokens(text), complete: true }
      : { complete: false }
    yield { type: "finish", reason: calls ? "tool-calls" : "stop", usage: withCost(usage, price) }
  }
  return { id, contextWindow, price, stream }
}

const pollMs = 200

const howToCall = 'A tool call is a block tagged `tool-call` that contains { "name": "…", "input": { … } }.'

/** Writes the request under the next free number and returns that number. */
async function writeRequest(
  dir: string,
  texts: readonly string[],
  { continues, hasTools }: { continues: boolean; hasTools: boolean },
): Promise<string> {
  await makePrivateFolder(dir)
  const used = (await readdir(dir)).map((name) => Number.parseInt(name, 10)).filter(Number.isFinite)
  for (let next = Math.max(0, ...used) + 1; ; next++) {
    const number = String(next).padStart(4, "0")
    const title = continues ? `Request ${next}: what is new since the previous one` : `Request ${next}`
    const end = `(Write the answer to ${number}-answer.md.${hasTools ? ` ${howToCall}` : ""})`
    const text = `${[title, ...texts, end].join("\n\n")}\n`
    if (await writeNewPrivateFile(join(dir, `${number}-request.md`), text)) return number
  }
}

/** Waits for the answer file. A file is read when two looks in a row find the same text, because an editor may write it
 *  in pieces. A mistake in a tool call is described in a file, and the corrected answer is awaited. */
async function readAnswer(dir: string, number: string, signal: AbortSignal): Promise<HandAnswer> {
  let seen: string | undefined
  let refused: string | undefined
  for (;;) {
    const text = await readFile(join(dir, `${number}-answer.md`), "utf8").catch(() => undefined)
    if (text !== undefined && text === seen && text.trim() && text !== refused) {
      const found = parseHandAnswer(text.replace(/\n$/, ""), number)
      if (Array.isArray(found)) return { text, parts: found }
      refused = text
      await replacePrivateFile(join(dir, `${number}-problem.md`), `${found}\n`)
    }
    seen = text
    await sleep(pollMs, undefined, { signal }).catch(() => {
      throw abortError(signal)
    })
  }
}

interface HandAnswer {
  text: string
  parts: ModelPart[]
}
