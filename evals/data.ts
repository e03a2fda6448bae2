// The suite `data`: questions about tables, with tables as text, with code that keeps nothing, and with live tables.
import { join } from "node:path"
import { arms, openKernels } from "./data/arms.ts"
import { derivePlan } from "./data/derive-plan.ts"
import { type ArmRecord, type Conversation, type PlannedQuestion, play } from "./data/play.ts"
import { playData } from "./data/play-model.ts"
import { missingPart, type Question, readQuestions } from "./data/questions.ts"
import { agreement, armSections, dataClaims } from "./data/report.ts"
import { type DataTable, readTable } from "./data/tables.ts"
import { mustHaveTasks } from "./harness/data.ts"
import type { Cell, Section, Skipped, Suite } from "./harness/suite.ts"

export const data: Suite = {
  name: "data",
  about:
    "Questions of InfiAgent-DABench with closed answers over small CSV tables. Rules read the columns and the operation " +
    "from the text of each question and make a program of them; questions that the rules do not cover are listed and " +
    "not scored. The rules were written with these questions in view, so the share of covered questions says nothing " +
    "about other questions. Three arms, each in two forms. `json`: a tool returns the whole table as text; " +
    "`json-columns`: the tool returns the columns that the question needs. Nothing computes in these arms: the oracle " +
    "computes the answer from the text in the conversation and is not charged for it, which no model can do; the real " +
    "price is higher. `codeact`: the table is a file; each cell reads it again, uses no variable of an earlier cell, and " +
    "prints its result as text; the first cell prints three rows to learn the columns. `karst`: the table is a live " +
    "object that the prompt declares. Both run TypeScript (`-ts`, with a small object of statistics functions that is " +
    "declared in each prompt) and Python (`-py`, with pandas and scipy).",
  needs: ["dabench"],
  modes: ["live", "hand"],
  playedStyles: arms,
  async run(setup) {
    const { data: folder, mode, maxTasks, progress, signal } = setup
    const tables = join(folder, "dabench", "tables")
    const questions = await readQuestions(join(folder, "dabench"))
    const { covered, uncovered } = await planQuestions(questions, tables)
    mustHaveTasks(covered, join(folder, "dabench"), "questions.json and tables/")
    const alone = covered.slice(0, maxTasks).map(
      ({ table, ...planned }): Conversation => ({
        id: `question ${planned.question.id}`,
        table,
        questions: [planned],
      }),
    )
    if (mode.type !== "oracle") return playData(alone, tables, mode, setup)
    const together = byTable(covered.slice(0, maxTasks))
    await using kernels = openKernels(tables)
    const noPython = await kernels.problem()
    const played = arms.filter((arm) => noPython === undefined || !arm.endsWith("-py"))
    const records: ArmRecord[][] = []
    let done = 0
    for (const conversations of [alone, together]) {
      const own: ArmRecord[] = []
      for (const conversation of conversations) {
        for (const arm of played) {
          signal.throwIfAborted()
          own.push(await play(conversation, arm, { kernels }))
        }
        progress(++done, alone.length + together.length, conversation.id)
      }
      records.push(own)
    }
    const [single = [], shared = []] = records
    const least = Math.min(50, Math.floor(questions.length / 2))
    return {
      checks: [
        {
          what: `questions that the rules cover: at least ${least}`,
          passed: Math.min(least, covered.length),
          of: least,
        },
        ...agreement(single, "each question alone"),
        ...agreement(shared, "all questions about a table in one conversation"),
      ],
      sections: [
        coverage(questions, covered.length, uncovered),
        ...armSections(single, "Each question alone"),
        ...armSections(shared, "All questions about a table in one conversation"),
      ],
      tasks: [...single, ...shared.map((record) => ({ ...record, oracleOnly: true }))],
      skipped: [
        ...(noPython === undefined ? [] : [{ what: "the arms in Python", why: noPython }]),
        ...listByReason(uncovered),
      ],
      claims: dataClaims(single, "json"),
      claimsAgainstBest: dataClaims(single, "json-columns"),
    }
  },
}

interface Uncovered {
  id: number
  why: string
}

interface Covered extends PlannedQuestion {
  table: DataTable
}

async function planQuestions(questions: readonly Question[], folder: string) {
  const tables = new Map<string, DataTable | undefined>()
  const covered: Covered[] = []
  const uncovered: Uncovered[] = []
  for (const question of questions) {
    const planned = await planQuestion(question, folder, tables)
    if ("uncovered" in planned) uncovered.push({ id: question.id, why: planned.uncovered })
    else covered.push(planned)
  }
  return { covered, uncovered }
}

async function planQuestion(
  question: Question,
  folder: string,
  tables: Map<string, DataTable | undefined>,
): Promise<Covered | { uncovered: string }> {
  const missing = missingPart(question)
  if (missing !== undefined) return { uncovered: `the question has no ${missing}` }
  const { answers: _, ...asked } = question
  const file = question.file_name
  if (!tables.has(file)) tables.set(file, await readTable(folder, file).catch(() => undefined))
  const table = tables.get(file)
  if (!table) return { uncovered: "its table is not there, or is not UTF-8" }
  if (table.rows.length === 0) return { uncovered: "its table has no rows" }
  const plan = derivePlan(asked, table.columns)
  return "uncovered" in plan ? plan : { question, plan, table }
}

function byTable(covered: readonly Covered[]): Conversation[] {
  return [...Map.groupBy(covered, ({ table }) => table)].map(([table, questions]) => ({
    id: table.file,
    table,
    questions,
  }))
}

function listByReason(uncovered: readonly Uncovered[]): Skipped[] {
  return [...byReason(uncovered)].map(([why, own]) => ({
    what: `questions ${own.map(({ id }) => id).join(", ")}`,
    why,
  }))
}

function byReason(uncovered: readonly Uncovered[]): Map<string, Uncovered[]> {
  return Map.groupBy(uncovered, ({ why }) => (why.startsWith("no rule derives") ? "no rule derives an answer" : why))
}

function coverage(questions: readonly Question[], covered: number, uncovered: readonly Uncovered[]): Section {
  const rows = [...byReason(uncovered)].map(([why, own]): Cell[] => [`not covered: ${why}`, own.length])
  return {
    title: "Which questions the rules cover",
    text: "An uncovered question is not played and not scored. The list of them is at the end of the chapter.",
    table: {
      columns: [{ name: "questions" }, { name: "number", format: "number" }],
      rows: [["all", questions.length], ["covered", covered], ...rows],
    },
  }
}
