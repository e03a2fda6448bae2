// The environment variables of Karst: one table, and the configuration that some of them set.
import { ConfigError } from "../core/errors.ts"
import { type PromptLanguage, promptLanguages } from "../core/prompt-texts.ts"
import { cliNameProblem } from "../providers/cli-names.ts"
import type { Config } from "./define-config.ts"
import type { Environment } from "./find-files.ts"

export interface EnvironmentVariable {
  name: string
  /** What it does, as one sentence. */
  meaning: string
  /** The key of the configuration that it sets. */
  key?: string | undefined
}

/** Every environment variable that Karst reads by itself. Keys of model providers are in the table of models. */
export const environmentVariables: readonly EnvironmentVariable[] = [
  { name: "KARST_MODEL", key: "model", meaning: "The default model; for coding CLIs, a model or a tier." },
  { name: "KARST_AGENT", key: "agent", meaning: "The default agent." },
  { name: "KARST_LANGUAGE", key: "language", meaning: "The language of prompts: en or zh." },
  { name: "KARST_PROVIDER", key: "providers", meaning: "Coding CLIs in order of preference, separated by commas." },
  {
    name: "KARST_ARCHIVE",
    key: "archive",
    meaning: "Where sessions are stored: a folder, sqlite:karst.db or redis://host:6379; off: nowhere.",
  },
  { name: "KARST_MAX_CYCLES", key: "limits.cycles", meaning: "The number of cycles of a run." },
  { name: "KARST_MAX_COST_USD", key: "limits.costUsd", meaning: "The cost of a run in US dollars." },
  { name: "KARST_CONFIG", meaning: "The configuration file, instead of the project's." },
  { name: "KARST_HOME", meaning: "The user's folder, instead of ~/.karst." },
  { name: "KARST_TRUST_CONFIG", meaning: "1: load new and changed configuration files without confirmation." },
  { name: "KARST_EFFORT", meaning: "The reasoning effort of coding CLIs." },
  { name: "KARST_AUTOWAIT", meaning: "0: coding CLIs do not wait for the end of a usage limit." },
  { name: "KARST_PYTHON", meaning: "The Python program of Python kernels." },
  { name: "KARST_MCP_TOKEN", meaning: "The token that clients of `karst mcp serve --http` send." },
]

/** A value of the environment, and the variable that it comes from. */
export interface EnvironmentConfig {
  config: Config
  /** The variable that sets a key, by key. */
  variables: ReadonlyMap<string, string>
}

/** Reads the variables that set keys of the configuration. An empty variable counts as absent. */
export function configOfEnvironment(env: Environment): EnvironmentConfig {
  const variables = new Map<string, string>()
  const read = (name: string): string | undefined => {
    const value = env[name]?.trim()
    const { key } = environmentVariables.find((each) => each.name === name) ?? {}
    if (!value || key === undefined) return undefined
    variables.set(key, name)
    return value
  }
  const providers = names("KARST_PROVIDER", read("KARST_PROVIDER"))
  const cycles = wholeNumber("KARST_MAX_CYCLES", read("KARST_MAX_CYCLES"))
  const costUsd = amount("KARST_MAX_COST_USD", read("KARST_MAX_COST_USD"))
  const limits = { ...(cycles !== undefined && { cycles }), ...(costUsd !== undefined && { costUsd }) }
  return {
    variables,
    config: {
      model: read("KARST_MODEL"),
      agent: read("KARST_AGENT"),
      language: language("KARST_LANGUAGE", read("KARST_LANGUAGE")),
      archive: read("KARST_ARCHIVE"),
      providers,
      limits: Object.keys(limits).length > 0 ? limits : undefined,
    },
  }
}

function names(variable: string, text: string | undefined): string[] | undefined {
  const list = text?.split(",").map((name) => name.trim())
  const given = list?.filter((name) => name !== "")
  const [problem] = given?.flatMap((name) => cliNameProblem(name) ?? []) ?? []
  if (problem !== undefined) throw new ConfigError(`${variable}: ${problem}.`)
  return given
}

function language(name: string, text: string | undefined): PromptLanguage | undefined {
  const found = promptLanguages.find((each) => each === text)
  if (text === undefined || found !== undefined) return found
  throw new ConfigError(`${name}: "${text}" is no language of prompts. There are: ${promptLanguages.join(", ")}.`)
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d*$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new ConfigError(`${name}: "${text}" is not a whole number of 1 or more.`)
}

function amount(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d+(\.\d+)?$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new ConfigError(`${name}: "${text}" is not an amount in US dollars, such as 0.50.`)
}
