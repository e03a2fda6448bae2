// An agent for any program that speaks the Agent Client Protocol (ACP) on its standard input and output.
import { basename } from "node:path"
import { checkOptions, mustBeText, mustBeTextList, type OptionChecks } from "../../core/checks/check-options.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import type { CliOptions } from "../options.ts"
import { capabilities, type Provider, toolGroups } from "../provider.ts"
import { createAcpSession } from "./acp-session.ts"

export interface AcpOptions extends CliOptions {
  /** The program: a path, or a name looked up in PATH. */
  command: string
  /** Arguments that make it speak the protocol, such as `["--acp"]`. */
  args?: readonly string[] | undefined
  /** The id of the authentication method to use if it requires one. */
  auth?: string | undefined
}

const acpChecks: OptionChecks<AcpOptions> = {
  ...cliChecks,
  command: mustBeText,
  args: mustBeTextList,
  auth: mustBeText,
}

/** An agent of any CLI that speaks the Agent Client Protocol. */
export function acp(given: AcpOptions): CliAgent {
  checkOptions("acp()", given, acpChecks)
  const { command, args = [], auth, ...options } = given
  const title = options.name ?? basename(command)
  const provider: Provider = {
    name: "acp",
    title,
    binary: command,
    install: "",
    can: capabilities("images", "ask"),
    tiers: { strongest: {}, fast: {} },
    // The program decides what it asks permission for. It cannot ask the user questions: we do not offer that over ACP.
    unenforcedGroups: ({ allow, permissions }) =>
      permissions === "bypass" ? [] : toolGroups.filter((group) => group !== "interaction" && !allow.has(group)),
    open: (opening) => createAcpSession({ provider: "acp", title, launch: async () => ({ args, auth }) }, opening),
  }
  return cliAgent(provider, { program: command, ...options })
}
