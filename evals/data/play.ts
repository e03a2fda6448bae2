// Plays the questions about one table in one arm, as one conversation, and scores the answers.
import { jsRuntime, type Message, messageText } from "karst"
import { type Model, type ModelPart, type ModelRequest, scriptedModel } from "karst/models"
import { errorText } from "../harness/data.ts"
import type { TaskRecord } from "../harness/suite.ts"
import { type Measured, measureModel } from "../harness/tokens.ts"
import { type Arm, type ArmSetup, openAgent } from "./arms.ts"
import { type Plan, plannedColumns } from "./plan.ts"
import { isCorrect, type Question, questionText } from "./questions.ts"
import * as statistics from "./statistics.ts"
import { type DataTable, parseTable, type Row } from "./tables.ts"
import { writePython } from "./write-python.ts"
import { writeTypeScript } from "./write-typescript.ts"

export interface Conversation {
  id: string
  table: DataTable
  questions: PlannedQuestion[]
}

export interface PlannedQuestion {
  question: Question
  plan: Plan
}

export interface ArmRecord extends TaskRecord, Measured {
  style: Arm
  questions: number
  /** The questions whose closed answers are all right. */
  correct: number
  /** What the conversation answered, one line for each question. */
  answers: string
  /** Whether an error ended a run, such as one of the model's service. */
  failed?: boolean
}

/** Plays a conversation. Without a model, the oracle answers: it runs the derived programs, and it reads its answers
 *  from what the conversation shows. */
export async function play(
  { id, table, questions }: Conversation,
  arm: Arm,
  setup: ArmSetup,
  model: Model = oracle(table, questions, arm),
): Promise<ArmRecord> {
  const measured = measureModel(model)
  const problems: string[] = []
  const answers: string[] = []
  let failed = false
  try {
    const agent = await openAgent(arm, table, measured, setup)
    await using session = await agent.session()
    for (const { question } of questions) {
      const { status, error, output } = await session.send(questionText(question), { signal: setup.signal }).settled
      failed ||= status === "failed"
      if (status !== "done") problems.push(`question ${question.id} ended as ${status}: ${error?.message ?? ""}`)
      answers.push(output)
    }
  } catch (error) {
    setup.signal?.throwIfAborted()
    problems.push(errorText(error))
  }
  const correct = questions.filter(({ question }, index) => isCorrect(question, answers[index] ?? "")).length
  return {
    task: id,
    style: arm,
    verified: problems.length === 0,
    questions: questions.length,
    correct,
    answers: answers.join("\n"),
    ...(failed && { failed }),
    ...measured.measured(),
    ...(problems.length > 0 && { problem: problems.join("; ") }),
  }
}

function oracle(table: DataTable, questions: readonly PlannedQuestion[], arm: Arm): Model {
  const turns = questions.flatMap(({ plan }, index) => turnSteps(plan, table, arm, index, questions))
  return scriptedModel((request) => {
    const step = turns.shift()
    if (!step) throw new Error(`The oracle has no further answer about ${table.file}.`)
    return step(request)
  })
}

type Step = (request: ModelRequest) => string | ModelPart[] | Promise<string>

function turnSteps(
  plan: Plan,
  table: DataTable,
  arm: Arm,
  index: number,
  questions: readonly PlannedQuestion[],
): Step[] {
  const call =
    (name: string, input: Record<string, string | string[]>): Step =>
    () => [{ type: "tool-call", id: `call_${index + 1}`, name, input }]
  if (arm === "json") {
    const answer: Step = async (request) => answerText(plan, await compute(plan, shownRows(request)))
    return index === 0 ? [call("read_table", { table: table.file }), answer] : [answer]
  }
  if (arm === "json-columns") {
    const names = plannedColumns(plan, table.columns)
    const before = new Set(questions.slice(0, index).flatMap((each) => plannedColumns(each.plan, table.columns)))
    const missing = names.filter((name) => !before.has(name))
    const answer: Step = async (request) => answerText(plan, await compute(plan, shownRows(request)))
    return missing.length > 0 ? [call("read_columns", { table: table.file, columns: missing }), answer] : [answer]
  }
  const isPython = arm.endsWith("-py")
  const program = isPython ? writePython(plan) : writeTypeScript(plan)
  const cell =
    (code: string): Step =>
    () =>
      `\`\`\`${isPython ? "python" : "ts"}\n${code}\n\`\`\``
  const answer: Step = (request) => answerText(plan, printedValues(lastResult(request)))
  if (arm.startsWith("karst")) return [cell(program), answer]
  const load = isPython ? pythonLoad(table, program) : `const table = await readTable(${JSON.stringify(table.file)})`
  const look = isPython
    ? `${pythonLoad(table, "")}\nprint(table.dtypes)\nprint(table.head(3))`
    : `${load}\nconsole.log(table.length, table.slice(0, 3))`
  return [...(index === 0 ? [cell(look)] : []), cell(`${load}\n${program}`), answer]
}

/** A program without persistence imports what it uses and reads its table. */
function pythonLoad({ file }: DataTable, program: string): string {
  return [
    ...(program.includes("np.") ? ["import numpy as np"] : []),
    "import pandas as pd",
    ...(program.includes("stats.") ? ["from scipy import stats"] : []),
    `table = pd.read_csv(${JSON.stringify(file)})`,
  ].join("\n")
}

/** Computes in the place of the model's head: the tool arms have nothing that computes. */
async function compute(plan: Plan, table: Row[]): Promise<Map<string, string>> {
  await using runtime = jsRuntime({ table, stats: { ...statistics } })
  const execution = await runtime.execute(writeTypeScript(plan))
  if (!execution.ok) throw new Error(`The program of a plan failed: ${execution.error.message}`)
  return printedValues(execution.output)
}

function answerText({ answers }: Plan, printed: ReadonlyMap<string, string>): string {
  return answers.map(({ key, text }) => `@${key}[${text(printed)}]`).join(" ")
}

function printedValues(output: string): Map<string, string> {
  const lines = [...output.matchAll(/^([\w-]+) (.*)$/gm)]
  return new Map(lines.map(([, name = "", value = ""]) => [name, value]))
}

/** The table as the results of the conversation show it: whole, or some columns in each result. */
function shownRows({ messages }: ModelRequest): Row[] {
  const [first = [], ...others] = results(messages).map((text) => parseTable("", text).rows)
  return first.map((row, index) => Object.assign({}, row, ...others.map((rows) => rows[index])))
}

function lastResult({ messages }: ModelRequest): string {
  return results(messages).at(-1) ?? ""
}

function results(messages: readonly Message[]): string[] {
  return messages.filter(({ role }) => role === "result").map(messageText)
}
