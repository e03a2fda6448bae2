// `karst claude ./objects.ts [prompt]`, and the same for the other coding CLIs: the CLI can use the module's objects.
import { display } from "../../display.ts"
import { claude } from "../../providers/claude/claude.ts"
import type { CliAgent } from "../../providers/cli-agent.ts"
import { codex } from "../../providers/codex/codex.ts"
import { knownProviders } from "../../providers/coding-agent.ts"
import { findProgram } from "../../providers/find-program.ts"
import { gemini } from "../../providers/gemini/gemini.ts"
import { opencode } from "../../providers/opencode/opencode.ts"
import type { CliOptions } from "../../providers/options.ts"
import { isTier } from "../../providers/provider.ts"
import type { TierSettings } from "../../providers/tiers.ts"
import type { Input } from "../command.ts"
import { exitCode, interruptible, printEvent } from "../interruptible-run.ts"
import { loadServedModule } from "../load/served-module.ts"
import { loadProjectConfig } from "../project-config.ts"
import { readStandardInput } from "../run/read-prompt.ts"
import type { codingCliOptions } from "../table/coding-clis.ts"
import { UsageError } from "../usage-error.ts"

const clis = { claude, codex, opencode, gemini } satisfies Record<string, (options: CliOptions) => CliAgent>

export type CodingCli = keyof typeof clis

type Options = Input<typeof codingCliOptions>

export function codingCliCommand(name: CodingCli): (input: Options) => Promise<number> {
  const usage = `karst ${name} ./objects.ts ["what to do"]`
  return async ({ values, positionals: [path, ...words] }) => {
    const { allow, mode = "full", "cell-timeout": cellTimeout } = values
    requireInstalled(name, values.program)
    const prompt = await readPrompt(words)
    if (prompt === undefined) requireTerminal(name, values)
    const { file: _, ...served } = await loadServedModule(path, usage)
    const agent = clis[name]({
      ...served,
      model: values.model,
      tiers: await tiersFor(values.model),
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

/** The models of tiers in the configuration, which is read only if a tier is wanted. */
async function tiersFor(model: string | undefined): Promise<TierSettings | undefined> {
  if (!isTier(model ?? process.env.KARST_MODEL)) return undefined
  return (await loadProjectConfig(undefined)).config.tiers
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
  const prompt = words.length === 1 && words[0] === "-" ? await readStandardInput() : words.join(" ")
  if (prompt.trim() === "")
    throw new UsageError("The prompt is empty. Say what to do, or leave it out to work in the terminal.")
  return prompt
}

function requireTerminal(name: CodingCli, { json, mode }: Options["values"]): void {
  if (json || mode !== undefined)
    throw new UsageError(`--json and --mode are for a run: karst ${name} ./objects.ts "what to do"`)
  if (process.stdin.isTTY && process.stdout.isTTY) return
  throw new UsageError(
    `Without a prompt karst ${name} needs a terminal, and there is none here. Say what to do: karst ${name} ./objects.ts "what to do"`,
  )
}
