// docs/evidence.md: the same chapters as the HTML report, without the plots.
import type { Chapter } from "./chapters.ts"
import type { Section } from "./suite.ts"
import { markdownTable } from "./tables.ts"
import { wrapText } from "./wrap-text.ts"

export function evidencePage(chapters: readonly Chapter[]): string {
  const parts = [
    "# Evidence",
    "This page is written by `npm run evals`. Do not edit it.",
    rerun,
    ...chapters.flatMap(chapterParts),
  ]
  return `${parts.map((part) => (part.startsWith("|") || part.startsWith("```") ? part : wrapText(part))).join("\n\n")}\n`
}

const rerun = `To measure it again: put the task data into a folder (its README says what it contains), and run

    npm run evals -- --data <folder>             all suites
    npm run evals -- retail --data <folder>      one suite
    npm run --silent evals -- --json             the reports as JSON
    npm run evals -- retail --tasks 5 --live --model openai/gpt-5.2
                                                 the same tasks with a real model, after you confirmed the cost
    npm run evals -- data --tasks 5 --hand <folder>
                                                 a person is the model: requests and answers are files in the folder

\`KARST_EVAL_DATA\` names the folder, too. Any folder of the same shape will do, so that tasks that nobody here has
seen can be run. With \`--live\` and \`--hand\`, \`--styles a,b\` plays only some styles, an interrupted run goes on
when it is started again, and what a person writes into \`about.md\` in the folder is quoted here. The run prints its
tables, keeps the figures of each task in \`evals/results/\`, writes \`evals/report.html\` with plots, and writes this
page if all suites have been run. It exits with 1 if a check or a suite fails, and with 130 if it is interrupted.`

function chapterParts({ title, text, checks, sections, facts }: Chapter): string[] {
  return [
    `## ${title}`,
    text,
    checks.rows.length > 0 ? markdownTable(checks) : "",
    ...sections.flatMap(sectionParts),
    facts ?? "",
  ].filter(Boolean)
}

function sectionParts({ title, text, table }: Section): string[] {
  if (!text && !table) return []
  return [`### ${title}`, text ?? "", table ? markdownTable(table) : ""].filter(Boolean)
}
