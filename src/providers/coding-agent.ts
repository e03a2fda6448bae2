// Creates a coding agent by the name of its CLI, or from the CLIs that are installed.
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { claude, claudeProvider } from "./claude/claude.ts"
import type { CliAgent } from "./cli-agent.ts"
import { cliNameProblem } from "./cli-names.ts"
import { codex, codexProvider } from "./codex/codex.ts"
import { environmentDefaults } from "./environment-defaults.ts"
import { type FallbackOptions, fallback } from "./fallback/fallback.ts"
import { findProgram } from "./find-program.ts"
import { gemini, geminiProvider } from "./gemini/gemini.ts"
import { opencode, opencodeProvider } from "./opencode/opencode.ts"
import { cliChecks } from "./option-checks.ts"
import type { CliOptions } from "./options.ts"
import { isTier, type Provider } from "./provider.ts"

export interface CodingAgentOptions extends CliOptions, Pick<FallbackOptions, "failover" | "maxHandoffChars"> {
  /** One name: only that CLI. A list: a fallback in its order. "auto": the CLIs in `KARST_PROVIDER`, else all that are
   *  installed. Default "auto". */
  provider?: "auto" | (string & {}) | readonly string[] | undefined
}

// In order of preference.
const clis: readonly { provider: Provider; make(options: CliOptions): CliAgent }[] = [
  { provider: claudeProvider, make: claude },
  { provider: codexProvider, make: codex },
  { provider: opencodeProvider, make: opencode },
  { provider: geminiProvider, make: gemini },
]

/** The coding CLIs that Karst knows by name, in order of preference. */
export const knownProviders: readonly Provider[] = clis.map(({ provider }) => provider)

const codingAgentChecks: check.OptionChecks<CodingAgentOptions> = {
  ...cliChecks,
  provider: check.mustBeEither("a name or a list of names", check.mustBeText, check.mustBeTextList),
  failover: check.mustBeBoolean,
  maxHandoffChars: check.mustBeLimit(2000),
}

/** Creates an agent for one coding CLI, or a fallback for several. A model name applies to the first CLI only, a tier
 *  to all. */
export function codingAgent(given: CodingAgentOptions = {}): CliAgent {
  check.checkOptions("codingAgent()", given, codingAgentChecks)
  const { provider, failover, maxHandoffChars, ...options } = given
  const names = providerNames(provider)
  const [first, ...others] = names.map(requireCli)
  if (!first) throw new ConfigError(`provider: the list is empty. Name some of ${allNames()}, or write "auto".`)
  if (others.length === 0) return first.make(options)
  if (options.program !== undefined) {
    throw new ConfigError(
      "program: it is one CLI's, and there are several. Name one provider, or compose them: fallback(…).",
    )
  }
  const { name = "coding-agent", description, autoWait, logger, onEvent, trajectoryPath, ...shared } = options
  const fitsAll = shared.model === undefined || isTier(shared.model)
  const rest = others.map(({ make }) => make(fitsAll ? shared : { ...shared, model: "" }))
  const fallbackOptions = { name, description, autoWait, logger, onEvent, trajectoryPath, failover, maxHandoffChars }
  return fallback(first.make(shared), ...rest, fallbackOptions)
}

/** The names of the installed coding CLIs, in order of preference. Starts no process. */
export function installedProviders(options: { env?: NodeJS.ProcessEnv | undefined } = {}): string[] {
  check.checkOptionNames("installedProviders()", options, "env")
  const { env = process.env } = options
  return knownProviders.filter((provider) => findProgram(provider, { env })).map(({ name }) => name)
}

function providerNames(provider: CodingAgentOptions["provider"] = "auto"): readonly string[] {
  if (provider !== "auto") return typeof provider === "string" ? [provider] : [...new Set(provider)]
  const { providers } = environmentDefaults()
  if (providers) return [...new Set(providers)]
  const installed = installedProviders()
  // If no CLI is installed, report the first one's missing-binary error.
  return installed.length > 0 ? installed : knownProviders.slice(0, 1).map(({ name }) => name)
}

/** Returns the coding CLI of a name; throws if there is none. */
export function requireCli(name: string): (typeof clis)[number] {
  const found = clis.find(({ provider }) => provider.name === name)
  if (found) return found
  throw new ConfigError(`provider: ${cliNameProblem(name)}.`)
}

function allNames(): string {
  return knownProviders.map(({ name }) => name).join(", ")
}
