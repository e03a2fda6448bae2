import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { requires } from "../test/system.ts"
import { stats } from "./measure.ts"
import { before, beforeDate } from "./prompt/before.ts"
import { allPromptOptions, declarations, type RuntimeKind, results, runtimes, type Sample } from "./prompt/samples.ts"
import { budget, type Report, type Row } from "./report.ts"

const promptLimit = 350

/** Tokens (o200k) of what the model sees: the system prompt before the declarations, declarations, and results. */
export async function prompt(): Promise<Report> {
  const absent = Object.entries(missing).flatMap(([what, why]) => (why ? [{ what, why }] : []))
  const rows: Row[] = []
  for (const kind of kinds()) {
    rows.push(row(`system prompt, ${kind}`, await promptTokens(kind, false)))
    rows.push(row(`system prompt, ${kind}, all options`, await promptTokens(kind, true)))
  }
  const budgets = rows.map(({ what, median }) => budget(`${what}: tokens`, promptLimit, median, "tokens"))
  // Chinese has no budget of its own: tokenizers differ more than the texts.
  for (const kind of kinds()) {
    rows.push(row(`system prompt, ${kind}, zh`, await promptTokens(kind, false, "zh")))
    rows.push(row(`system prompt, ${kind}, all options, zh`, await promptTokens(kind, true, "zh")))
  }
  for (const sample of available(declarations)) {
    rows.push(row(`declaration, ${sample.kind}: ${sample.what}`, await declarationTokens(sample)))
  }
  for (const sample of available(results)) {
    rows.push(row(`result, ${sample.kind}: ${sample.what}`, await resultTokens(sample)))
  }
  return { rows, budgets, absent }
}

const missing: Partial<Record<RuntimeKind, string | undefined>> = {
  "process, os": requires("bwrap"),
  python: requires("python"),
}

function kinds(): RuntimeKind[] {
  return (Object.keys(runtimes) as RuntimeKind[]).filter((kind) => missing[kind] === undefined)
}

function available(samples: readonly Sample[]): Sample[] {
  return samples.filter(({ kind }) => missing[kind] === undefined)
}

/** The tokens of the system prompt without the section of declarations. */
async function promptTokens(kind: RuntimeKind, allOptions: boolean, language: "en" | "zh" = "en"): Promise<number> {
  await using runtime = runtimes[kind]({}, allOptions)
  const options = allOptions ? allPromptOptions(kind) : {}
  const agent = createAgent({ model: scriptedModel([]), runtime, language, prompt: { objects: () => "" }, ...options })
  return count(await agent.describe())
}

async function declarationTokens({ kind, bindings = {} }: Sample): Promise<number> {
  await using runtime = runtimes[kind](bindings)
  return count(await runtime.describe())
}

async function resultTokens({ kind, bindings = {}, code = "" }: Sample): Promise<number> {
  await using runtime = runtimes[kind](bindings)
  const tag = runtime.language === "python" ? "python" : "ts"
  const model = scriptedModel([`\`\`\`${tag}\n${code}\n\`\`\`\n`, "Done."])
  let text = ""
  for await (const event of createAgent({ model, runtime }).run("Go on."))
    if (event.type === "code-end") text = event.text
  return count(text)
}

function count(text: string): number {
  return encode(text).length
}

function row(what: string, tokens: number): Row {
  const earlier = before[what]
  const ratios = earlier === undefined ? {} : { [`${earlier} on ${beforeDate}`]: tokens / earlier }
  return { what, unit: "tokens", ...stats([tokens]), ratios }
}
