// Benchmark: `search_files` over 50,000 files.
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root, runTool } from "../scripts/tools.ts"
import type { Tool, ToolContext } from "../src/tools/tool.ts"
import type { Workspace } from "../src/workspaces/workspace.ts"
import { interleave, perUnit, ratio, stats } from "./measure.ts"
import { type Budget, budget, type Report, type Row } from "./report.ts"

const folders = 500
const filesPerFolder = 100

const questions = {
  "a rare word": { pattern: "needle_\\d+" },
  "a common word, by file": { pattern: "\\bfunction\\b", mode: "files", limit: 1000 },
  "no match": { pattern: "(?i)nowhere.*at all$" },
}

/** What `search_files` takes over 50,000 files, with ripgrep and without, beside ripgrep itself. */
export async function search(): Promise<Report> {
  if (spawnSync("rg", ["--version"]).error) {
    return {
      rows: [],
      budgets: [],
      absent: [{ what: "search", why: "ripgrep is not installed: apt-get install ripgrep" }],
    }
  }
  const { searchFilesTool, localWorkspace } = await builtTools()
  const directory = mkdtempSync(join(tmpdir(), "karst-bench-search-"))
  try {
    fill(directory)
    const workspace = localWorkspace(directory)
    const [withRipgrep, alone] = [searchFilesTool(), searchFilesTool({ ripgrep: false, timeoutMs: 300_000 })]
    const rows: Row[] = []
    const budgets: Budget[] = []
    for (const [what, input] of Object.entries(questions)) {
      const samples = await interleave(
        {
          plain: () => perUnit(1, () => plainRipgrep(directory, input)),
          tool: () => perUnit(1, () => ask(withRipgrep, input, workspace)),
        },
        { rounds: 7, warmups: 1 },
      )
      const against = { ripgrep: ratio(samples.tool, samples.plain) }
      rows.push({ what: `ripgrep: ${what}`, unit: "ms", ...stats(samples.plain) })
      rows.push({ what: `search_files: ${what}`, unit: "ms", ...stats(samples.tool), ratios: against })
      budgets.push(budget(`search_files against ripgrep, 50,000 files: ${what}`, 2, against.ripgrep, "×"))
    }
    const walked = await perUnit(1, () => ask(alone, questions["a rare word"], workspace))
    rows.push({ what: "search_files without ripgrep: a rare word", unit: "ms", ...stats([walked]) })
    return { rows, budgets }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

interface Question {
  pattern: string
  mode?: string
  limit?: number
}

type Tools = Pick<
  typeof import("karst/tools") & typeof import("karst/workspaces"),
  "searchFilesTool" | "localWorkspace"
>

// Built, as users have it: a thread that starts from source would have types to strip.
async function builtTools(): Promise<Tools> {
  if (runTool("../scripts/build.ts", []) !== 0) throw new Error("The build failed.")
  const load = (file: string) => import(pathToFileURL(join(root, "dist", file)).href)
  const [tools, front] = await Promise.all([load("tools.js"), load("index.js")])
  return { ...tools, ...front }
}

function fill(directory: string): void {
  for (let folder = 0; folder < folders; folder++) {
    const path = join(directory, `package-${folder % 20}`, `module-${folder}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < filesPerFolder; file++) writeFileSync(join(path, `file-${file}.ts`), textOf(folder, file))
  }
}

function textOf(folder: number, file: number): string {
  const lines = Array.from(
    { length: 30 },
    (_, line) => `export function handler${line}(value: number) { return value * ${folder} + ${file} }`,
  )
  if (folder % 50 === 7 && file === 42) lines.push(`const needle_${folder} = true`)
  return `${lines.join("\n")}\n`
}

function plainRipgrep(directory: string, { pattern, mode }: Question): void {
  const options = ["--no-config", mode === "files" ? "--files-with-matches" : "--line-number"]
  const { status } = spawnSync("rg", [...options, pattern, "."], {
    cwd: directory,
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: Infinity,
  })
  if (status !== 0 && status !== 1) throw new Error(`ripgrep ended with ${status}.`)
}

async function ask(tool: Tool, input: Question, workspace: Workspace): Promise<void> {
  const context: ToolContext = {
    call: "bench",
    signal: new AbortController().signal,
    workspace,
    state: { get: () => undefined, set: () => {} },
    progress: () => {},
  }
  const result = await tool.run(input, context)
  if (!(result instanceof Object && "ok" in result && result.ok))
    throw new Error(`The search failed: ${JSON.stringify(result)}`)
}
