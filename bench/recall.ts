// Benchmark: how much of a long conversation the model can still find after it was shortened.
import { globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { createAgent, type Json, jsRuntime, type Message, messageText } from "karst"
import { type ModelRequest, scriptedModel } from "karst/models"
import { root } from "../scripts/tools.ts"
import { estimateTokens } from "../src/core/usage.ts"
import { stats } from "./measure.ts"
import { budget, type Report, type Row } from "./report.ts"

const defaultData = process.env.KARST_EVAL_DATA ?? join(root, "../shared/data")
const tokens = 400

/** How much of a long conversation is still within reach after it was made shorter: real conversations of a tool agent
 *  are cut in the middle, compacted to 400 tokens, and asked for the literal arguments of the calls that come later. */
export async function recall(data = defaultData): Promise<Report> {
  const files = globSync("tau1-airline-trajectories/*.json", { cwd: data }).sort()
  if (files.length === 0) {
    const why = "the conversations are not there; KARST_EVAL_DATA names the folder that has tau1-airline-trajectories"
    return { rows: [], budgets: [], absent: [{ what: "recall after compaction", why }] }
  }
  const texts = await Promise.all(files.map((file) => readFile(join(data, file), "utf8")))
  const cases = texts
    .flatMap((text): Recorded[] => JSON.parse(text))
    .map(cutInTheMiddle)
    .filter(({ wanted }) => wanted.length > 0)
  const found: Record<string, Outcome[]> = {}
  for (const each of cases) {
    for (const [method, outcome] of Object.entries(await outcomes(each))) {
      found[method] = [...(found[method] ?? []), outcome]
    }
  }
  const rows = Object.entries(found).flatMap(([method, results]): Row[] => [
    { what: `${method}: values within reach`, unit: "", ...stats(trials(results).map(share)) },
    { what: `${method}: tokens kept`, unit: "", ...stats(results.map(({ kept }) => kept)) },
  ])
  const values = stats(cases.map(({ wanted }) => wanted.length))
  const karst = found[reachable] ?? []
  return {
    rows: [{ what: `values asked for in ${cases.length} conversations`, unit: "", ...values }, ...rows],
    budgets: [
      budget("share of later arguments out of reach", 0.05, 1 - share(karst), ""),
      budget("tokens kept, at most", tokens, Math.max(...karst.map(({ kept }) => kept)), ""),
    ],
  }
}

const reachable = "Karst, text and the variables it names"

interface Recorded {
  trial: number
  traj: {
    role: "system" | "user" | "assistant" | "tool"
    content: string | null
    name?: string
    tool_call_id?: string
    tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  }[]
}

interface Case {
  trial: number
  before: Message[]
  /** Literal arguments of later calls that had been said before the cut, each once, and not in the instructions. */
  wanted: string[]
}

interface Outcome {
  trial: number
  wanted: number
  found: number
  kept: number
}

async function outcomes({ trial, before, wanted }: Case): Promise<Record<string, Outcome>> {
  const outcome = (kept: string, within = kept): Outcome => ({
    trial,
    wanted: wanted.length,
    found: wanted.filter((value) => says(within, value)).length,
    kept: estimateTokens(kept),
  })
  const { kept, variables } = await compacted(before)
  const results = before.filter((message) => message.role !== "result")
  return {
    [reachable]: outcome(kept, `${kept}\n${variables}`),
    "Karst, kept text alone": outcome(kept),
    [`the last ${tokens} tokens`]: outcome(lastTokens(before.map(textOf).join("\n"))),
    "results dropped, the rest whole": outcome(results.map(textOf).join("\n")),
    [`results dropped, the last ${tokens} tokens`]: outcome(lastTokens(results.map(textOf).join("\n"))),
  }
}

/** What an agent's model is sent, and what is in the variables that this text names, and those that they name. */
async function compacted(messages: Message[]): Promise<{ kept: string; variables: string }> {
  const model = scriptedModel(["Done."])
  await using runtime = jsRuntime()
  const agent = createAgent({
    model,
    runtime,
    messages,
    // The limit is for the whole request; what the conversation may take is measured here.
    prompt: { instructions: () => "", rules: () => "", skills: () => "", objects: () => "" },
    memory: { compactAtTokens: tokens, model: scriptedModel(extract) },
  })
  await agent.run("Go on.")
  const kept = (model.requests[0]?.messages.slice(0, -1) ?? []).map(textOf).join("\n")
  const known = new Map((await runtime.names()).map(({ name }) => [name, ""]))
  const texts: string[] = []
  const read = async (text: string): Promise<void> => {
    for (const name of namesIn(text)) {
      if (!known.delete(name)) continue
      const value = String(await runtime.retrieve(name))
      texts.push(value)
      await read(value)
    }
  }
  await read(kept)
  return { kept, variables: texts.join("\n") }
}

// "_output_1 to _output_3" names three.
function namesIn(text: string): string[] {
  const names: string[] = [...(text.match(/_(?:output|history)_\d+/g) ?? [])]
  for (const [, prefix = "", from, to] of text.matchAll(/(_(?:output|history)_)(\d+) to \1(\d+)/g)) {
    for (let number = Number(from); number <= Number(to); number++) names.push(`${prefix}${number}`)
  }
  return names
}

/** Stands in for a model: keeps what looks like an id, a date or an amount, the newest first, in the words allowed. */
function extract({ system, messages }: ModelRequest): string {
  const said = messages.map(messageText).join("\n")
  const room = Number(/at most (\d+) words/.exec(system)?.[1] ?? 100)
  const ids = said.match(/\b(?=[\w-]*\d)[A-Za-z0-9][\w-]{3,}\b|\b[a-z]+_[a-z]+_\w+\b/g) ?? []
  const newest = [...new Set(ids.toReversed())].slice(0, Math.floor(room / 3))
  const first = /\[user\]\n(.{0,80})/.exec(said)?.[1] ?? ""
  return `<summary>\n## Goals\n- ${first || "none"}\n## Decisions\n- none\n## Facts\n- ${newest.join(" ")}\n## Open work\n- none\n</summary>`
}

function cutInTheMiddle({ trial, traj }: Recorded): Case {
  const [system, ...turns] = traj
  let cut = Math.floor(turns.length / 2)
  while (turns[cut]?.role === "tool") cut++
  const before = turns.slice(0, cut).map(toMessage)
  const text = before.map(textOf).join("\n")
  const later = turns.slice(cut).flatMap(({ tool_calls = [] }) => tool_calls.flatMap(literals))
  const wanted = [...new Set(later)].filter((value) => says(text, value) && !says(system?.content ?? "", value))
  return { trial, before, wanted }
}

function literals(call: { function: { arguments: string } }): string[] {
  const leaves = (value: Json): string[] => {
    if (typeof value === "string") return value.length >= 3 ? [value] : []
    if (typeof value === "number") return Math.abs(value) >= 10 ? [String(value)] : []
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : []
  }
  return leaves(JSON.parse(call.function.arguments))
}

function toMessage(turn: Recorded["traj"][number], index: number): Message {
  const id = `m${index}`
  const text = turn.content ?? ""
  if (turn.role === "tool") {
    const part = { type: "tool-result", id: turn.tool_call_id ?? "", name: turn.name ?? "", ok: true, text } as const
    return { id, role: "result", parts: [part] }
  }
  if (turn.role !== "assistant") return { id, role: "user", origin: "prompt", parts: [{ type: "text", text }] }
  const calls = (turn.tool_calls ?? []).map(
    ({ id, function: { name, arguments: input } }) =>
      ({ type: "tool-call", id, name, input: JSON.parse(input) }) as const,
  )
  return { id, role: "assistant", parts: [...(text ? [{ type: "text", text } as const] : []), ...calls] }
}

function textOf(message: Message): string {
  const calls = message.role === "assistant" ? message.parts.filter((part) => part.type === "tool-call") : []
  return [messageText(message), ...calls.map(({ input }) => JSON.stringify(input))].join("\n")
}

// As a word of its own: 12 is not said by 2012.
function says(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    if (!/\w/.test(text[at - 1] ?? "") && !/\w/.test(text[at + value.length] ?? "")) return true
  }
  return false
}

function lastTokens(text: string): string {
  let start = Math.max(0, text.length - tokens * 4)
  while (estimateTokens(text.slice(start)) > tokens) start += 20
  return text.slice(start)
}

function trials(results: readonly Outcome[]): Outcome[][] {
  return [...new Set(results.map(({ trial }) => trial))].map((trial) => results.filter((each) => each.trial === trial))
}

function share(results: readonly Outcome[]): number {
  const sum = (key: "wanted" | "found") => results.reduce((total, each) => total + each[key], 0)
  return sum("found") / sum("wanted")
}
