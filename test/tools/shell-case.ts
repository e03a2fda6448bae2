import { randomUUID } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "node:test"
import type { CommandReport } from "../../src/tools/shell/command-report.ts"
import { type ShellOptions, type ShellTools, shellTools } from "../../src/tools/shell.ts"
import { isToolResult, type Tool, type ToolContext, type ToolResult } from "../../src/tools/tool.ts"
import { localWorkspace } from "../../src/workspaces/local.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"

export interface ShellCase {
  root: string
  workspace: Workspace
  tools: ShellTools
  shell: Tool
  check: Tool
  /** The progress reports of the commands. */
  progressTexts: string[]
  /** An environment entry of everything started here. */
  mark: string
  run(input: object, context?: Partial<ToolContext>): Promise<Reported>
  checkUp(input: object, context?: Partial<ToolContext>): Promise<Reported>
}

export type Reported = ToolResult & { report: CommandReport }

/** A shell in a fresh folder. After the test it is closed and removed, and none of its processes may be left. */
export function shellCase(test: TestContext, options: ShellOptions = {}): ShellCase {
  const root = mkdtempSync(join(tmpdir(), "karst-test-shell-"))
  const mark = `KARST_TEST=${randomUUID()}`
  const [name = "", value = ""] = mark.split("=")
  const tools = shellTools({ ...options, env: { ...options.env, [name]: value } })
  const workspace = localWorkspace(root)
  const [shell, check] = tools.tools
  if (!shell || !check) throw new Error("shellTools gives two tools")
  const progressTexts: string[] = []
  const context: ToolContext = {
    call: "call",
    signal: new AbortController().signal,
    workspace,
    state: { get: () => undefined, set: () => undefined },
    progress: (text) => void progressTexts.push(text),
  }
  test.after(async () => {
    await tools.close()
    rmSync(root, { recursive: true, force: true })
    const left = alive(mark)
    if (left.length > 0) throw new Error(`still running: ${left.join(", ")}`)
  })
  const use =
    (tool: Tool) =>
    async (input: object, more: Partial<ToolContext> = {}) =>
      reported(await tool.run(input, { ...context, ...more }))
  return { root, workspace, tools, shell, check, progressTexts, mark, run: use(shell), checkUp: use(check) }
}

/** The processes with an entry in their environment, as `number:name`, without zombies. */
export function alive(mark: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    const stat = read(`/proc/${pid}/stat`)
    if (stat === "" || /\) [ZX] /.test(stat)) return []
    const carries = read(`/proc/${pid}/environ`).split("\0").includes(mark)
    return carries ? [`${pid}:${/\((.*)\)/.exec(stat)?.[1]}`] : []
  })
}

function reported(result: unknown): Reported {
  if (!isToolResult(result)) throw new Error("not a tool result")
  // Results of both tools contain reports, except for failures before a command was started.
  return { ...result, text: withoutDuration(result.text), report: result.value as CommandReport }
}

/** A result's text without the duration, and without the status line of a command that succeeded. */
function withoutDuration(text: string): string {
  return text.replace(/^(.*?) (?:after|for) [\d.]+ s(?=[.:])/, "$1").replace(/^Exit code 0\.\n/, "")
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1")
  } catch {
    return ""
  }
}
