// Questions about tables, with a person as the model: requests are written to files, answers are read from files.
//   npm run example -- live/table-questions --data <folder> --hand <folder> [--runtime python] [--ids 0,5,6]
// The data folder contains questions.json and tables/*.csv. The hand folder gets one folder for each question.
import { appendFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createAgent, jsRuntime, variable } from "karst"
import { handModel } from "karst/models"
import { pythonRuntime, table } from "karst/python"

interface Question {
  id: number
  question: string
  constraints: string
  format: string
  file_name: string
  answers: [name: string, value: string][]
}

type Row = Record<string, string | number | null>

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    hand: { type: "string" },
    ids: { type: "string", default: "0,5,6" },
    runtime: { type: "string", default: "js" },
  },
})
const { data, hand } = values
if (!data || !hand) throw new Error("Give --data (questions.json and tables/) and --hand (a folder for the files).")

const questions: Question[] = JSON.parse(readFileSync(join(data, "questions.json"), "utf8"))
for (const id of values.ids.split(",").map(Number)) {
  const question = questions.find((each) => each.id === id)
  if (!question) throw new Error(`There is no question ${id}.`)
  const rows = parseCsv(readFileSync(join(data, "tables", question.file_name), "utf8"))
  const model = handModel({ dir: join(hand, String(id)), countTokens })
  await using runtime =
    values.runtime === "python"
      ? pythonRuntime({ rows: variable(table(rows), `The table ${question.file_name}`) })
      : jsRuntime({ rows: variable(rows, `The table ${question.file_name}`) })
  const prompt = `${question.question}\n${question.constraints}\nAnswer in this form:\n${question.format}`
  const { output, usage, cycles } = await createAgent({ model, runtime }).run(prompt)
  const right = question.answers.every(([name, value]) => answers(String(output), name, value))
  const { input = 0, output: written = 0 } = usage
  const line = `question ${id}: ${right ? "right" : "wrong"}, ${cycles} model calls, ${input} + ${written} tokens`
  console.log(line)
  appendFileSync(join(hand, "results.txt"), `${line}\n`)
}

/** Returns true if the answer contains `@name[value]`, with numbers compared to two decimal places. */
function answers(output: string, name: string, expected: string): boolean {
  const found = new RegExp(`@${name}\\[([^\\]]*)\\]`).exec(output)?.[1]?.trim()
  if (found === undefined) return false
  const [left, right] = [Number(found), Number(expected)]
  return Number.isNaN(left) || Number.isNaN(right) ? found === expected.trim() : Math.abs(left - right) <= 0.0101
}

/** Parses comma-separated values with quotes. A field that is a number becomes one; an empty field becomes null. */
function parseCsv(text: string): Row[] {
  const records: string[][] = [[""]]
  let quoted = false
  for (const [token] of text
    .replace(/\r\n?/g, "\n")
    .trim()
    .matchAll(/""|"|,|\n|[^",\n]+/g)) {
    const record = records.at(-1) ?? []
    if (token === '"' || (token === '""' && !quoted)) quoted = token === '"' ? !quoted : quoted
    else if (token === "," && !quoted) record.push("")
    else if (token === "\n" && !quoted) records.push([""])
    else record[record.length - 1] += token === '""' ? '"' : token
  }
  const [header = [], ...rows] = records
  return rows.map((fields) => Object.fromEntries(header.map((name, index) => [name, fieldValue(fields[index] ?? "")])))
}

function fieldValue(field: string): string | number | null {
  if (field === "") return null
  return Number.isNaN(Number(field)) ? field : Number(field)
}
