// A menu in which the person chooses one of the installed coding CLIs.
import { ProviderError } from "../../core/errors.ts"
import { knownProviders } from "../coding-agent.ts"
import { findProgram } from "../find-program.ts"
import type { CliOptions } from "../options.ts"
import { isTier, type Provider } from "../provider.ts"
import { chooseFromMenu } from "./menu.ts"
import type { UserTerminal } from "./user-terminal.ts"

export interface ChosenProvider {
  provider: Provider
  /** The options adapted to that CLI. */
  options: CliOptions
}

/** Shows the menu, with the agent's own CLI first. Returns undefined if the person cancels. */
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

// A program and a model name belong to one CLI; a tier applies to all.
function optionsForOther({ program: _, model, ...options }: CliOptions): CliOptions {
  return { ...options, model: model === undefined || isTier(model) ? model : "" }
}

function programOf({ provider, options: { program, env } }: ChosenProvider): string | undefined {
  return findProgram(provider, { program, env: { ...process.env, ...env } })
}
