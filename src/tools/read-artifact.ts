// The tool `read_artifact`: reads a stored text piece by piece.
import * as z from "zod"
import { AgentError } from "../core/errors.ts"
import { characterBoundary } from "../core/message.ts"
import { isObject } from "../core/object.ts"
import { parseJsonExactly } from "../runtime/show/parse-json.ts"
import type { Artifacts } from "./artifacts.ts"
import { type Tool, tool, toolFailure, toolResult } from "./tool.ts"

const maxShownChars = 20_000
const artifactName = /^_[a-z]+(?:_p\d+)?_\d+$/

const inputSchema = z.strictObject({
  name: z.string(),
  path: z.string().optional().describe('A field of a JSON result, such as rows[0].name or ["a key"].'),
  start: z.number().min(0).default(0).describe("The first character."),
})

export function readArtifactTool({ retrieve }: Pick<Artifacts, "retrieve">): Tool {
  return tool({
    name: "read_artifact",
    description: "Reads text that was kept because it was too long or too old to show, by its name such as _output_1.",
    input: inputSchema,
    sideEffect: false,
    parallel: true,
    idempotent: true,
    maxOutputChars: 2 * maxShownChars,
    async run({ name, path, start }) {
      const stored = artifactName.test(name)
        ? await retrieve(name).catch((error) => {
            if (!(error instanceof AgentError) || error.code !== "not-found") throw error
          })
        : undefined
      if (typeof stored !== "string") return toolFailure("not-found", `There is no artifact "${name}".`)
      const found = path === undefined ? { text: stored } : readField(stored, path)
      if ("problem" in found) return toolFailure("not-found", `${name}: ${found.problem}`)
      const { text } = found
      const end = characterBoundary(text, start + maxShownChars)
      const rest = end < text.length ? `\n… ${text.length - end} characters left; go on with start ${end} …` : ""
      return toolResult({ text: text.slice(characterBoundary(text, start), end) + rest, value: text })
    },
  })
}

/** The text of one field of a JSON text: a string as it is, any other value as JSON. */
function readField(json: string, path: string): { text: string } | { problem: string } {
  let value: unknown = parseJsonExactly(json, rawNumber)
  if (value === undefined) return { problem: "it is no JSON object or list; read it without path." }
  let at = ""
  for (const [step, name, index, quoted] of path.matchAll(steps)) {
    const key = index ?? (quoted === undefined ? name : quoted.replace(/\\(.)/g, "$1")) ?? ""
    if (!isObject(value) || !Object.hasOwn(value, key)) return { problem: missingField(value, key, at) }
    value = Reflect.get(value, key)
    at += step
  }
  if (at !== path) return { problem: `the path cannot be read after "${at}"; write it as rows[0].name or ["a key"].` }
  return { text: typeof value === "string" ? value : JSON.stringify(value) }
}

const steps = /\.?([^.[\]"]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/gy

function missingField(value: unknown, key: string, at: string): string {
  const place = at === "" ? "it" : `"${at}"`
  if (Array.isArray(value)) return `${place} is a list of ${value.length} items; there is no [${key}].`
  if (!isObject(value)) return `${place} is no object or list, so it has no "${key}".`
  const keys = Object.keys(value)
  const some = keys.slice(0, 30).join(", ")
  return `${place} has no "${key}". It has: ${keys.length > 30 ? `${some} and ${keys.length - 30} more` : some}.`
}

// Writes a number as it was written. The type of `JSON.rawJSON` is not declared yet.
function rawNumber(source: string): unknown {
  const rawJson: unknown = Reflect.get(JSON, "rawJSON")
  return typeof rawJson === "function" ? rawJson(source) : Number(source)
}
