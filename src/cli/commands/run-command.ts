// `karst run "prompt"`: runs a prompt with data files and skills, and shows the run.
import { text as readAll } from "node:stream/consumers"
import { display } from "../../display.ts"
import { compatibleServices, providerPackages } from "../../models/compatible-services.ts"
import type { Model } from "../../models/model.ts"
import { resolveModel } from "../../models/resolve.ts"
import type { Input } from "../command.ts"
import { commandAgent } from "../command-agent.ts"
import { exitCode, interruptible, printEvent } from "../interruptible-run.ts"
import { loadData } from "../load/load-data.ts"
import type { runOptions } from "../table/work.ts"
import { UsageError } from "../usage-error.ts"

export async function runPromptCommand({ values, positionals }: Input<typeof runOptions>): Promise<number> {
  const { data, skill: skills, json, "max-cycles": maxCycles, mode } = values
  const prompt = await readPrompt(positionals)
  const model = await chooseModel(values.model)
  const bindings = await loadData(data)
  const agent = commandAgent({ model, bindings, skills, maxCycles })

  const running = agent.run(prompt, { onEvent: json ? printEvent : undefined })
  const result = await interruptible(running, () => (json ? running.settled : display(running, { mode })))
  return exitCode(result)
}

async function readPrompt(words: string[]): Promise<string> {
  const prompt = words.length === 1 && words[0] === "-" ? await readAll(process.stdin) : words.join(" ")
  if (prompt.trim() === "") throw new UsageError('There is no prompt. Say: karst run "what to do"')
  return prompt
}

// Tried in this order: one capable model per provider at a moderate price.
const defaults: Record<string, string> = {
  openai: "gpt-5.2",
  anthropic: "claude-sonnet-5",
  google: "gemini-3.8-flash",
  openrouter: "openai/gpt-5.2",
  deepseek: "deepseek-v4-flash",
  xai: "grok-4",
  mistral: "mistral-large-2512",
  moonshot: "kimi-k3",
}

/** Returns the requested model, or KARST_MODEL, or the default of the first provider whose key is set. */
async function chooseModel(requested: string | undefined, env: NodeJS.ProcessEnv = process.env): Promise<Model> {
  const id = requested ?? (env.KARST_MODEL || firstWithKey(env))
  if (id !== undefined) return resolveModel(id, { env })
  throw new UsageError(
    "No model was chosen and no provider's key is in the environment. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or another " +
      "provider's key, or name a model: --model ollama/qwen3, or KARST_MODEL. `karst demo` needs neither.",
  )
}

function firstWithKey(env: NodeJS.ProcessEnv): string | undefined {
  const provider = Object.keys(defaults).find((name) => keysOf(name).some((key) => env[key]))
  return provider && `${provider}/${defaults[provider]}`
}

function keysOf(provider: string): readonly string[] {
  return providerPackages[provider] ?? compatibleServices[provider]?.keys ?? []
}
