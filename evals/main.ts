// `npm run evals [-- <suite>…] [--json] [--data dir] [--tasks n] [--live --model id [--yes] | --hand dir]
// [--styles a,b]`: replays public tasks and measures what the ways of acting cost. It prints tables, and writes
// evals/results/, evals/report.html and docs/evidence.md. It exits with 1 if a check or a suite failed, 2 if it was
// called wrongly, and 130 if it was interrupted.
import { join } from "node:path"
import { createInterface } from "node:readline/promises"
import { parseArgs } from "node:util"
import { root } from "../scripts/tools.ts"
import { dataFolder } from "./harness/data.ts"
import { runSuites, writePages } from "./harness/run-suites.ts"
import { readReports } from "./harness/stored-reports.ts"
import type { Mode } from "./harness/suite.ts"
import { progressLine, terminalReport } from "./harness/terminal.ts"
import { suites } from "./suites.ts"

const { values, positionals } = readArguments()
const unknown = positionals.filter((name) => !suites.some((suite) => suite.name === name))
if (unknown.length > 0) {
  fail(`Unknown suite: ${unknown.join(", ")}. There are: ${suites.map(({ name }) => name).join(", ")}.`)
}
const maxTasks = values.tasks === undefined ? undefined : Number(values.tasks)
if (maxTasks !== undefined && !(Number.isInteger(maxTasks) && maxTasks > 0)) {
  fail(`--tasks is ${values.tasks}. Give the number of tasks to run.`)
}
const mode = chosenMode()
if (mode.type !== "oracle" && positionals.length === 0) {
  fail(`--${mode.type} needs the name of a suite, such as retail.`)
}

const chosen = suites.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const styles = chosenStyles()

const stop = new AbortController()
process.once("SIGINT", () => stop.abort(new Error("Interrupted.")))
const progress = progressLine(process.stderr)
const results = join(root, "evals/results")
if (mode.type === "hand") {
  progress.say(`Requests appear in ${mode.dir} as 0001-request.md and so on. Write each answer to 0001-answer.md.`)
}
const outcome = await runSuites(chosen, {
  data: dataFolder(values.data),
  mode,
  maxTasks,
  styles,
  results,
  signal: stop.signal,
  say: progress.say,
  progress: progress.show,
  confirm,
})
progress.end()
console.log(values.json ? JSON.stringify(outcome, null, 2) : outcome.reports.map(terminalReport).join("\n\n"))
if (outcome.reports.length > 0) {
  const paths = { root, html: "evals/report.html", page: "docs/evidence.md" }
  for (const line of await writePages(suites, await readReports(suites, results), paths)) progress.say(line)
}
const broken = outcome.reports.flatMap(({ report }) => report.checks.filter(({ passed, of }) => passed < of))
if (outcome.failed.length > 0 || broken.length > 0) process.exitCode = 1
if (outcome.interrupted) process.exitCode = 130

function readArguments() {
  try {
    return parseArgs({
      options: {
        json: { type: "boolean" },
        data: { type: "string" },
        tasks: { type: "string" },
        styles: { type: "string" },
        live: { type: "boolean" },
        model: { type: "string" },
        yes: { type: "boolean" },
        hand: { type: "string" },
      },
      allowPositionals: true,
    })
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function chosenMode(): Mode {
  if (values.live && values.hand !== undefined) fail("--live and --hand exclude each other. Leave one of them out.")
  if (values.hand !== undefined) return { type: "hand", dir: values.hand }
  if (!values.live) return { type: "oracle" }
  if (process.env.CI) return fail("--live costs money and is not for CI. Run it on your own machine.")
  if (!values.model) return fail("--live needs --model, such as --model openai/gpt-5.2.")
  return { type: "live", model: values.model }
}

/** The styles of `--styles`, which each chosen suite must have. */
function chosenStyles(): string[] | undefined {
  if (values.styles === undefined) return undefined
  if (mode.type === "oracle") fail("--styles is for --live and --hand. The oracle plays all styles.")
  const names = values.styles.split(",").map((name) => name.trim())
  for (const { name, playedStyles = [] } of chosen) {
    const other = names.filter((style) => !playedStyles.includes(style))
    if (other.length > 0) fail(`${name} has no style ${other.join(", ")}. It has: ${playedStyles.join(", ")}.`)
  }
  return names
}

/** Asks on the terminal. Without one, only `--yes` confirms. */
async function confirm(text: string): Promise<boolean> {
  progress.say(text)
  if (values.yes) return true
  if (!process.stdin.isTTY) fail("Not started: nobody can confirm the cost here. Add --yes to start.")
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question("Start? (yes/no) ")
  terminal.close()
  return answer.trim().toLowerCase() === "yes"
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
