// The suite `drift`: 25 turns over tables; after each, every variable is compared with what it should be.
import { isDeepStrictEqual } from "node:util"
import { createAgent, jsRuntime, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { pythonRuntime } from "karst/python"
import { driftTurns, type Language, salesTable, type Variables } from "./drift/turns.ts"
import type { Cell, Skipped, Suite, TaskRecord } from "./harness/suite.ts"

export const drift: Suite = {
  name: "drift",
  about:
    `${driftTurns.length} turns of one conversation over tables: variables are made, changed in place and bound ` +
    "again, and some cells fail after a change, on purpose. After each turn, the names, the types and the values of all " +
    "variables in the runtime are compared with those that a separate computation expects. A difference is an error.",
  async run({ progress, signal }) {
    const records: TaskRecord[] = []
    const skipped: Skipped[] = []
    for (const language of ["typescript", "python"] as const) {
      const own = await playTurns(language, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        if (language === "typescript") throw error
        skipped.push({ what: "drift on pythonRuntime", why: error instanceof Error ? error.message : String(error) })
        return []
      })
      records.push(...own)
      progress(records.length, driftTurns.length * 2, language)
    }
    return {
      checks: [...Map.groupBy(records, ({ style }) => style)].map(([style, own]) => ({
        what: `${style}: turns after which every name, type and value is as expected`,
        passed: own.filter(({ verified }) => verified).length,
        of: own.length,
        failures: own
          .flatMap(({ task, problem }) => (problem === undefined ? [] : [`${task}: ${problem}`]))
          .slice(0, 5),
      })),
      sections: [table(records)],
      tasks: records,
      skipped,
    }
  },
}

/** Plays all turns in one session. Each turn is a cell and a closing text. */
async function playTurns(language: Language, signal: AbortSignal): Promise<TaskRecord[]> {
  await using runtime = openRuntime(language)
  const tag = language === "typescript" ? "ts" : "python"
  const model = scriptedModel(driftTurns.flatMap((turn) => [`\`\`\`${tag}\n${turn[language]}\n\`\`\``, "Done."]))
  await using session = await createAgent({ model, runtime }).session()
  let expected: Variables = { table: salesTable() }
  const records: TaskRecord[] = []
  for (const [index, turn] of driftTurns.entries()) {
    signal.throwIfAborted()
    const { status, error } = await session.send(turn.user).settled
    if (status !== "done") throw new Error(`turn ${index + 1} ended as ${status}: ${error?.message ?? ""}`)
    expected = turn.expect(structuredClone(expected))
    const { compared, problems } = await compare(runtime, language, expected)
    records.push({
      task: `turn ${index + 1}`,
      style: language,
      verified: problems.length === 0,
      compared,
      errors: problems.length,
      ...(problems.length > 0 && { problem: problems.join("; ") }),
    })
  }
  return records
}

function openRuntime(language: Language): Runtime {
  if (language === "typescript") return jsRuntime({ table: salesTable() })
  return pythonRuntime({ table: salesTable() }, { setup: "import pandas as pd" })
}

/** What differs between the variables of a runtime and the expected ones. */
export async function compare(runtime: Runtime, language: Language, expected: Variables) {
  const names = (await runtime.names()).filter(
    ({ name, kind, type }) => kind === "variable" && type !== "module" && !name.startsWith("_"),
  )
  const problems: string[] = []
  for (const [name, value] of Object.entries(expected)) {
    const found = names.find((each) => each.name === name)
    if (!found) {
      problems.push(`${name} is missing`)
      continue
    }
    const type = expectedType(name, value, language)
    if (found.type !== type) problems.push(`${name} is a ${found.type} instead of a ${type}`)
    const own = await runtime.retrieve(name)
    if (!isDeepStrictEqual(own, value)) problems.push(`${name} has another value`)
  }
  for (const { name } of names) if (!(name in expected)) problems.push(`${name} should not be there`)
  return { compared: Object.keys(expected).length, problems }
}

/** The type as the runtime names it. Names that end in `_df` are data frames in Python. */
export function expectedType(name: string, value: unknown, language: Language): string {
  if (language === "typescript") return typeScriptType(value)
  return name.endsWith("_df") ? "pandas.DataFrame" : pythonType(value)
}

function typeScriptType(value: unknown): string {
  if (Array.isArray(value)) return `${value.length === 0 ? "any" : typeScriptType(value[0])}[]`
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${key}: ${typeScriptType(member)}`)
    .join("; ")} }`
}

function pythonType(value: unknown): string {
  if (Array.isArray(value)) return `list[${union(value.map(pythonType))}]`
  if (typeof value === "object" && value !== null) return `dict[str, ${union(Object.values(value).map(pythonType))}]`
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float"
  return typeof value === "boolean" ? "bool" : "str"
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ")
}

function table(records: readonly TaskRecord[]) {
  const rows = [...Map.groupBy(records, ({ style }) => style)].map(([style, own]): Cell[] => {
    const compared = own.reduce((sum, { compared: count }) => sum + Number(count), 0)
    const errors = own.reduce((sum, { errors: count }) => sum + Number(count), 0)
    return [style, own.length, compared, errors, errors / compared]
  })
  const number = (name: string) => ({ name, format: "number" as const })
  return {
    title: "Errors",
    text: "`compared` counts each variable once for each turn after which it was compared.",
    table: {
      columns: [
        { name: "runtime" },
        number("turns"),
        number("compared"),
        number("errors"),
        { name: "error rate", format: "share" as const },
      ],
      rows,
    },
  }
}
