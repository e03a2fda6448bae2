import { ProviderError } from "../../core/errors.ts"
import { knownProviders } from "../coding-agent.ts"
import { findProgram } from "../find-program.ts"
import type { CliOptions } from "../options.ts"
import type { Provider } from "../provider.ts"
import { chooseFromMenu } from "./menu.ts"
import type { UserTerminal } from "./user-terminal.ts"

export interface ChosenProvider {
  provider: Provider
  /** As they are for that one. */
  options: CliOptions
}

/** Lets the person choose among the CLIs that are installed, the agent's own first. Undefined where they would rather not. */
export async function chooseProvider(
  own: ChosenProvider,
  terminal: UserTerminal,
  signal: AbortSignal | undefined,
): Promise<ChosenProvider | undefined> {
  const others = knownProviders.filter(({ name }) => name !== own.provider.name)
  const all = [own, ...others.map((provider) => ({ provider, options: optionsForOther(own.options) }))]
  const installed = all.flatMap((each) => {
    const note = each.provider.terminalCommand && programOf(each)
    return note === undefined ? [] : [{ ...each, title: each.provider.title, note }]
  })
  if (installed.length === 0) {
    const cures = knownProviders.map(({ title, install }) => `${title} with \`${install}\``)
    throw new ProviderError(`There is no coding CLI to choose. Install one: ${cures.join(", ")}.`, {
      code: "not-installed",
    })
  }
  const question = "Which coding CLI? (arrows, Enter; Esc for none)"
  const at = await chooseFromMenu(terminal, { question, items: installed, signal })
  return at === undefined ? undefined : installed[at]
}

// A program and the name of a model are those of one CLI; a tier is everyone's.
function optionsForOther({ program: _, model, ...options }: CliOptions): CliOptions {
  const isTier = model === undefined || model === "strongest" || model === "fast"
  return { ...options, model: isTier ? model : "" }
}

function programOf({ provider, options: { program, env } }: ChosenProvider): string | undefined {
  return findProgram(provider, { program, env: { ...process.env, ...env } })
}
