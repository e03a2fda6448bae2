// What the HTML report and docs/evidence.md have in common: the introduction, the figures beside those of the paper,
// and a chapter for each suite.
import type { Check, Claim, Section, StoredReport, Table } from "./suite.ts"
import { rates } from "./tokens.ts"

export interface Chapter {
  id: string
  title: string
  /** Markdown. */
  text: string
  checks: Table
  sections: Section[]
  /** When, where and on how much it was run. */
  facts?: string
}

export function chapters(reports: readonly StoredReport[]): Chapter[] {
  return [introduction(reports), besideThePaper(reports), ...reports.map(suiteChapter)]
}

const noChecks: Table = { columns: [], rows: [] }

function introduction(reports: readonly StoredReport[]): Chapter {
  const tokenizers = [...new Set(reports.map(({ tokenizer }) => tokenizer))].join(", ")
  return {
    id: "about",
    title: "What is measured, and what is not",
    checks: noChecks,
    sections: [],
    text: [
      "No model takes part unless a chapter says so. An **oracle** knows the expected actions of each task and replays " +
        "them in several styles through the real loop, with the real prompts, runtime and memory of Karst. One fixed " +
        "rule turns actions into programs; no program is tuned for its task. Each figure stands next to the end state " +
        "that was verified in the same run.",
      `Tokens are counted with ${tokenizers} over the requests as they were sent and the answers as they were written, ` +
        "with four tokens for the frame of each message. Tools are counted as the JSON that is sent; some providers show " +
        "them to the model in a shorter form, which makes tool calls cheaper than they are here.",
      `Costs are in units of one input token: an output token costs ${rates.output}, and an input token that the ` +
        `previous request of the conversation had in the same place costs ${rates.cachedInput} with a cache. Writing to ` +
        "the cache costs nothing here; some providers charge for it.",
      "What an oracle cannot show:",
      "- Whether a model finds the right actions, and how often it errs, in any style.\n" +
        "- What a model thinks and says before it acts: the oracle writes nothing but its calls and the fixed texts.\n" +
        "- Detours, repairs and explanations: real models read more than they need, and code can fail where a tool call " +
        "would not.\n" +
        "- How much a model would print. The projections here are short; a careful model prints more.",
      "The savings shrink with strong models: the later tables of the paper show −9 % to −40 %. They shrink with prompt " +
        "caching, which makes repeated prompts cheap and leaves the longer answers of code at full price; the text above " +
        "each comparison gives the cost without and with a cache, also where it does not shrink. And they shrink when a " +
        "model makes independent tool calls together, which is why `json-par` always stands beside `json-seq`.",
      "Plain tool calls are the better choice for short tasks with one or two calls, where there is little to save (the " +
        "first line of the table by length in `retail`); where results are small and a prompt cache makes long prompts cheap, " +
        "because the answers of code are longer (`bfcl`); for tools with approval on each call; and for models that " +
        "write poor code.",
    ].join("\n\n"),
  }
}

type Claims = Partial<Record<Claim, number>>

const paper: Record<Claim, { what: string; value: number; ours: string }> = {
  total: { what: "total tokens, many turns", value: -0.284, ours: "retail, code-proj against json-seq and json-par" },
  prompt: { what: "prompt tokens, many turns", value: -0.327, ours: "retail, code-proj against json-seq and json-par" },
  completion: {
    what: "completion tokens, many turns",
    value: 0.363,
    ours: "retail, code-proj against json-seq and json-par",
  },
  dataTotal: {
    what: "total tokens, data-heavy tasks",
    value: -0.59,
    ours: "data, karst-ts against json and json-columns",
  },
  retailSuccess: {
    what: "success on retail tasks, in points (one model)",
    value: 0.105,
    ours: "retail --live, code against tools",
  },
}

function besideThePaper(reports: readonly StoredReport[]): Chapter {
  const whole = reports.filter(({ maxTasks }) => maxTasks === undefined)
  const claims: Claims = Object.assign({}, ...whole.map(({ report }) => report.claims))
  const best: Claims = Object.assign({}, ...whole.map(({ report }) => report.claimsAgainstBest))
  const rows = Object.entries(paper).map(([claim, { what, value, ours }]) => [
    what,
    value,
    claims[claim as Claim],
    best[claim as Claim],
    ours,
  ])
  const columns: Table["columns"] = [
    { name: "figure" },
    { name: "paper", format: "change" },
    { name: "here", format: "change" },
    { name: "here, against the best tool calls", format: "change" },
    { name: "measured by" },
  ]
  return {
    id: "paper",
    title: "Beside the figures of the paper",
    text:
      "The paper (CaveAgent) compares its agents with JSON function calling, each played by live models. Here an oracle " +
      "replays known actions, so the figures are not the same measurement: they show what the way of acting alone " +
      "changes. Where they are close, that is a coincidence of task sets and rules. The best tool calls are `json-par` in " +
      "`retail` and `json-columns` in `data`. The figure for data-heavy tasks follows the size of the tables: it can be " +
      "made as large as one likes. An empty cell has not been measured on all tasks.",
    checks: noChecks,
    sections: [{ title: "Five figures", table: { columns, rows } }],
  }
}

function suiteChapter(stored: StoredReport): Chapter {
  const { suite, mode, report } = stored
  const by = mode.type === "live" ? `, played by ${mode.model}` : mode.type === "hand" ? ", played by hand" : ""
  const skipped: Section[] = report.skipped?.length
    ? [
        {
          title: "Not run",
          table: {
            columns: [{ name: "what" }, { name: "why" }],
            rows: report.skipped.map(({ what, why }) => [what, why]),
          },
        },
      ]
    : []
  return {
    id: mode.type === "oracle" ? suite : `${suite}-${mode.type}`,
    title: `${suite}${by}`,
    text: aboutText(stored),
    checks: checksTable(report.checks),
    sections: [...report.sections, ...skipped],
    facts: factsText(stored),
  }
}

/** What a report is about. A model plays the tasks in its own way: what the oracle does is not said of it. */
export function aboutText({ suite, about, mode }: StoredReport): string {
  if (mode.type === "oracle") return about
  const player =
    mode.type === "live" ? `by ${mode.model}` : "by hand: requests were written as text, and answers read from files"
  return `The tasks of \`${suite}\`, played ${player}. The chapter of the oracle says what the tasks are.`
}

export function checksTable(checks: readonly Check[]): Table {
  return {
    columns: [{ name: "verified in this run" }, { name: "holds", format: "number" }, { name: "of", format: "number" }],
    rows: checks.map(({ what, passed, of }) => [what, passed, of]),
  }
}

function factsText({ date, node, cores, durationMs, maxTasks, mode }: StoredReport): string {
  const sample = maxTasks === undefined ? "" : ` A sample of at most ${maxTasks} tasks.`
  const day = date.slice(0, 10)
  if (mode.type === "hand") return `Played on ${day} with Node ${node}.${sample}`
  return `Run on ${day} with Node ${node} on ${cores} cores in ${(durationMs / 1000).toFixed(0)} s.${sample}`
}
