import {
  checkOptions,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeEither,
  mustBeText,
  mustBeTextList,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { claude, claudeProvider } from "./claude/claude.ts"
import type { CliAgent } from "./cli-agent.ts"
import { codex, codexProvider } from "./codex/codex.ts"
import { environmentDefaults } from "./environment-defaults.ts"
import { type FallbackOptions, fallback } from "./fallback/fallback.ts"
import { findProgram } from "./find-program.ts"
import { gemini, geminiProvider } from "./gemini/gemini.ts"
import { opencode, opencodeProvider } from "./opencode/opencode.ts"
import { cliChecks } from "./option-checks.ts"
import type { CliOptions } from "./options.ts"
import type { Provider } from "./provider.ts"

export interface CodingAgentOptions extends CliOptions, Pick<FallbackOptions, "failover" | "handoffChars"> {
  /** One name: that CLI and no other. A list: the first that can, in its order. "auto": those of `KARST_PROVIDER`, else every one that
   *  is installed. Default "auto". */
  provider?: "auto" | (string & {}) | readonly string[] | undefined
}

// In the order of preference.
const clis: readonly { provider: Provider; make(options: CliOptions): CliAgent }[] = [
  { provider: claudeProvider, make: claude },
  { provider: codexProvider, make: codex },
  { provider: opencodeProvider, make: opencode },
  { provider: geminiProvider, make: gemini },
]

/** The coding CLIs that Karst knows by name, the preferred first. */
export const knownProviders: readonly Provider[] = clis.map(({ provider }) => provider)

const codingAgentChecks: OptionChecks<CodingAgentOptions> = {
  ...cliChecks,
  provider: mustBeEither("a name or a list of names", mustBeText, mustBeTextList),
  failover: mustBeBoolean,
  handoffChars: mustBeAtLeast(2000),
}

/** A coding agent by the name of its CLI, or whichever there is; several are a fallback. A model is that of the first one, unless it is
 *  a tier, which each has its own model for. */
export function codingAgent(given: CodingAgentOptions = {}): CliAgent {
  checkOptions("codingAgent()", given, codingAgentChecks)
  const { provider, failover, handoffChars, ...options } = given
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
  const isTier = shared.model === undefined || shared.model === "strongest" || shared.model === "fast"
  const rest = others.map(({ make }) => make(isTier ? shared : { ...shared, model: "" }))
  const own = { name, description, autoWait, logger, onEvent, trajectoryPath, failover, handoffChars }
  return fallback(first.make(shared), ...rest, own)
}

/** The names of the coding CLIs that are found here, the preferred first. Nothing is started. */
export function installedProviders({ env = process.env }: { env?: NodeJS.ProcessEnv | undefined } = {}): string[] {
  return knownProviders.filter((provider) => findProgram(provider, { env })).map(({ name }) => name)
}

function providerNames(provider: CodingAgentOptions["provider"] = "auto"): readonly string[] {
  if (provider !== "auto") return typeof provider === "string" ? [provider] : [...new Set(provider)]
  const { providers } = environmentDefaults()
  if (providers) return [...new Set(providers)]
  const installed = installedProviders()
  // Of none, the first says what is missing.
  return installed.length > 0 ? installed : knownProviders.slice(0, 1).map(({ name }) => name)
}

function requireCli(name: string): (typeof clis)[number] {
  const found = clis.find(({ provider }) => provider.name === name)
  if (found) return found
  throw new ConfigError(`Unknown coding CLI "${name}". There are: ${allNames()}.`)
}

function allNames(): string {
  return knownProviders.map(({ name }) => name).join(", ")
}
