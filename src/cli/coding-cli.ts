// `karst claude ./objects.ts [prompt]`, and the same for the other coding CLIs: the CLI can use the module's objects.
import { text as readAll } from "node:stream/consumers"
import { display } from "../display.ts"
import { claude } from "../providers/claude/claude.ts"
import type { CliAgent } from "../providers/cli-agent.ts"
import { codex } from "../providers/codex/codex.ts"
import { knownProviders } from "../providers/coding-agent.ts"
import { findProgram } from "../providers/find-program.ts"
import { gemini } from "../providers/gemini/gemini.ts"
import { opencode } from "../providers/opencode/opencode.ts"
import type { CliOptions } from "../providers/options.ts"
import { type ToolGroup, toolGroups } from "../providers/provider.ts"
import { parseArguments, parseDisplayMode, parsePositiveInteger } from "./arguments.ts"
import { exitCode, interruptible, printEvent } from "./interruptible-run.ts"
import { loadServedModule } from "./load/served-module.ts"
import { UsageError } from "./usage-error.ts"

const clis = { claude, codex, opencode, gemini } satisfies Record<string, (options: CliOptions) => CliAgent>

export type CodingCli = keyof typeof clis

export function codingCliCommand(name: CodingCli): (args: string[]) => Promise<number> {
  const usage = `karst ${name} ./objects.ts ["what to do"]`
  return async (args) => {
    const { values, positionals } = parseArguments(name, args, {
      model: { type: "string" },
      allow: { type: "string" },
      program: { type: "string" },
      mode: { type: "string" },
      json: { type: "boolean" },
      "cell-timeout": { type: "string" },
    })
    const [path, ...words] = positionals
    if (path === undefined) throw new UsageError(`Name the module with your objects: ${usage}`)
    const cellTimeout = parsePositiveInteger("--cell-timeout", values["cell-timeout"])
    const mode = parseDisplayMode(values.mode)
    const allow = parseToolGroups(values.allow)
    requireInstalled(name, values.program)
    const prompt = await readPrompt(words)
    if (prompt === undefined) requireTerminal(name, values)
    const { file: _, ...served } = await loadServedModule(path, usage)
    const agent = clis[name]({
      ...served,
      model: values.model,
      program: values.program,
      ...(cellTimeout !== undefined && { cellTimeoutMs: cellTimeout * 1000 }),
    })
    try {
      if (prompt === undefined) {
        // The person at the terminal answers the CLI's questions, as without Karst.
        const { exitCode } = await agent.interactive(undefined, { allow, permissions: "ask" })
        return exitCode
      }
      const running = agent.run(prompt, { allow: allow ?? ["read"], onEvent: values.json ? printEvent : undefined })
      const result = await interruptible(running, () => (values.json ? running.settled : display(running, { mode })))
      return exitCode(result)
    } finally {
      await served.runtime?.close()
    }
  }
}

function parseToolGroups(list: string | undefined): ToolGroup[] | undefined {
  if (list === undefined) return undefined
  const names = list.split(",").map((name) => name.trim())
  return names
    .filter((name) => name !== "")
    .map((name) => {
      const group = toolGroups.find((each) => each === name)
      if (group) return group
      throw new UsageError(`--allow: "${name}" is unknown. There are: ${toolGroups.join(", ")}.`)
    })
}

function requireInstalled(name: CodingCli, program: string | undefined): void {
  const provider = knownProviders.find((each) => each.name === name)
  if (!provider || findProgram(provider, { program })) return
  const { title, binary, install } = provider
  throw new UsageError(
    program === undefined
      ? `${title} is not installed: "${binary}" is not in PATH. Install it with \`${install}\`, or name it: --program /path/to/${binary}`
      : `--program: there is no program ${program}.`,
  )
}

async function readPrompt(words: string[]): Promise<string | undefined> {
  if (words.length === 0) return undefined
  const prompt = words.length === 1 && words[0] === "-" ? await readAll(process.stdin) : words.join(" ")
  if (prompt.trim() === "")
    throw new UsageError("The prompt is empty. Say what to do, or leave it out to work in the terminal.")
  return prompt
}

function requireTerminal(
  name: CodingCli,
  { json, mode }: { json?: boolean | undefined; mode?: string | undefined },
): void {
  if (json || mode !== undefined)
    throw new UsageError(`--json and --mode are for a run: karst ${name} ./objects.ts "what to do"`)
  if (process.stdin.isTTY && process.stdout.isTTY) return
  throw new UsageError(
    `Without a prompt karst ${name} needs a terminal, and there is none here. Say what to do: karst ${name} ./objects.ts "what to do"`,
  )
}
