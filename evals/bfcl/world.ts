// The services of one BFCL task: each call returns what was recorded for it.
import { isDeepStrictEqual } from "node:util"
import { type Json, type JsonSchema, tool, toolResult } from "karst"
import { argumentValues, occursIn } from "../replay/group-calls.ts"
import type { PrintRules, ReplayCall, World } from "../replay/task.ts"
import { type BfclTask, reads } from "./tasks.ts"

/** A call gets the next recorded result of the same function with the same arguments; any other call is an error. */
export function createWorld({ conversation, functions }: BfclTask): World {
  const open = conversation.turns.flatMap(({ calls }) => calls)
  const made: World["made"] = []

  function call(name: string, input: Json): Json {
    const place = open.findIndex((each) => each.name === name && isDeepStrictEqual(each.input, input))
    const [recorded] = place === -1 ? [] : open.splice(place, 1)
    if (!recorded) throw new Error(`No result was recorded for ${name}(${JSON.stringify(input)}).`)
    made.push({ name, input: recorded.input, result: recorded.result })
    return JSON.parse(recorded.result)
  }

  const tools = functions.map(({ name, description, input, output }) =>
    tool<JsonSchema>({
      ...{ name, description, input, output },
      parallel: reads(name),
      run(given) {
        const value = call(name, JSON.parse(JSON.stringify(given)))
        return toolResult({ text: JSON.stringify(value), value })
      },
    }),
  )
  return {
    tools,
    bindings: Object.fromEntries(tools.map((each) => [each.name, each])),
    made,
    problem: () => (open.length === 0 ? undefined : `${open.length} recorded results were not asked for`),
  }
}

/** A projection prints the fields that later calls take values from, and the whole result of the last call of a
 *  turn. */
export const bfclPrint: PrintRules = {
  whole: (name) => `console.log(JSON.stringify(${name}))`,
  projection(name, call, { neededLater, isLastOfTurn }) {
    if (isLastOfTurn) return `console.log(JSON.stringify(${name}))`
    const fields = neededFields(call, neededLater)
    if (fields.length === 0) return undefined
    return `console.log(${fields.map((field) => `JSON.stringify(${name}${memberText(field)})`).join(", ")})`
  },
}

function neededFields({ result }: ReplayCall, needed: readonly string[]): string[] {
  const value: Json = JSON.parse(result)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return []
  return Object.entries(value)
    .filter(([, member]) => {
      const text = JSON.stringify(member)
      return needed.some((each) => occursIn(each, text) || argumentValues(member).includes(each))
    })
    .map(([key]) => key)
}

function memberText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
