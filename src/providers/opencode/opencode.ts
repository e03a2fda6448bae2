// opencode as an agent: its provider, and the commands and configuration that start it.
import { checkOptions, mustBeObject, mustBeOneOf, type OptionChecks } from "../../core/checks/check-options.ts"
import type { Json } from "../../core/json.ts"
import { createAcpSession } from "../acp/acp-session.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import type { CliOptions } from "../options.ts"
import {
  type CliServer,
  capabilities,
  grantedGroups,
  groupsReachableByShell,
  mayRunCommands,
  type Provider,
  type TerminalCommand,
  type TerminalLaunch,
  type ToolGroup,
  type TurnRequest,
  type TurnSettings,
  toolGroups,
} from "../provider.ts"
import { createJsonLinesSession, type TurnCommand, type TurnLocation } from "../turn/json-lines-session.ts"
import { promptText, writeImageFiles, writePrivateFile } from "../turn/prompt-files.ts"
import { createOpencodeParser } from "./opencode-parser.ts"

export interface OpencodeOptions extends CliOptions {
  /** opencode settings that override its config files. Fixed for the agent. */
  config?: { readonly [key: string]: Json } | undefined
  /** "acp": one process per session, which supports `permissions: "ask"` but no fork. Default: one process per turn. */
  protocol?: "acp" | undefined
}

const opencodeChecks: OptionChecks<OpencodeOptions> = {
  ...cliChecks,
  config: mustBeObject,
  protocol: mustBeOneOf("acp"),
}

/** Creates an agent that works with opencode. */
export function opencode(given: OpencodeOptions = {}): CliAgent {
  checkOptions("opencode()", given, opencodeChecks)
  const { config = {}, protocol, ...options } = given
  return cliAgent(protocol === "acp" ? createAcpProvider(config) : providerWith(config), options)
}

export const opencodeProvider: Provider = providerWith({})

function providerWith(config: { readonly [key: string]: Json }): Provider {
  return {
    name: "opencode",
    title: "opencode",
    binary: "opencode",
    installFolders: ["~/.opencode/bin", "~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"],
    install: "npm install -g opencode-ai",
    can: capabilities("fork", "images", "tokens", "cost", "systemPrompt", "userServers"),
    tiers: { strongest: { variable: "OPENCODE_MODEL" }, fast: { variable: "OPENCODE_SMALL_FAST_MODEL" } },
    unenforcedGroups: groupsReachableByShell,
    open: (opening) =>
      createJsonLinesSession(
        {
          provider: "opencode",
          title: "opencode",
          command: (turn, location) => turnCommand(turn, location, config),
          parser: ({ settings }) => createOpencodeParser(settings),
        },
        opening,
      ),
    terminalCommand: (launching) => terminalCommand(launching, config),
  }
}

function createAcpProvider(config: Config): Provider {
  const provider = providerWith(config)
  const { name, title } = provider
  return {
    ...provider,
    can: { ...provider.can, fork: false, ask: true, tokens: false },
    open: (opening) =>
      createAcpSession(
        {
          provider: name,
          title,
          reportsLastAnswerOnly: true,
          launch: async (settings, { folder }) => ({
            // opencode retries a failing service for minutes and reports that only in its log.
            args: ["acp", "--print-logs", "--log-level", "ERROR"],
            env: await createEnvironment(settings, folder, config),
            alreadyPassed: ["instructions", "servers"],
          }),
        },
        opening,
      ),
  }
}

async function turnCommand(
  turn: TurnRequest,
  location: TurnLocation,
  extra: { readonly [key: string]: Json },
): Promise<TurnCommand> {
  const { message, settings } = turn
  const { model, reasoning } = settings
  // Its log shows when a call starts; its output does not.
  const args = ["run", "--format", "json", "--thinking", "--print-logs", "--log-level", "INFO"]
  if (settings.permissions === "bypass") args.push("--auto")
  if (model !== undefined) args.push("--model", model)
  if (reasoning !== undefined) args.push("--variant", reasoning)
  if (location.key !== undefined) args.push("--session", location.key, ...(location.fork ? ["--fork"] : []))
  for (const image of await writeImageFiles("opencode", message, location.folder)) args.push("--file", image)
  // The prompt is passed by standard input, because opencode puts quotes around a prompt argument.
  return { args, env: await createEnvironment(settings, location.folder, extra), input: promptText(message) }
}

async function terminalCommand(
  { settings, prompt, key, folder }: TerminalLaunch,
  extra: Config,
): Promise<TerminalCommand> {
  const { model, permissions } = settings
  const args: string[] = []
  if (permissions === "bypass") args.push("--auto")
  if (model !== undefined) args.push("--model", model)
  if (key !== undefined) args.push("--session", key)
  // One argument, because the prompt may start with a dash.
  if (prompt !== undefined) args.push(`--prompt=${prompt}`)
  const env = await createEnvironment(settings, folder, extra)
  return { args, env, key, resumeHint: /opencode (?:-s|--session) (ses_\w+)/g }
}

async function createEnvironment(
  settings: TurnSettings,
  folder: string,
  extra: Config,
): Promise<Record<string, string>> {
  const { instructions, systemPrompt } = settings
  const config = {
    autoupdate: false,
    share: "disabled",
    ...extra,
    ...(instructions && { instructions: [await writePrivateFile(folder, "instructions.md", instructions)] }),
    // `build` is opencode's default agent.
    ...(systemPrompt && { agent: { build: { prompt: systemPrompt } } }),
    ...(settings.servers.length > 0 && serversConfig(settings.servers)),
    permission: permissionsOf(settings),
  }
  // By a variable: other users can list process arguments, and a config file would replace the user's.
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    // Plugins of the repository run commands.
    ...(!mayRunCommands(settings) && { OPENCODE_DISABLE_PROJECT_CONFIG: "1" }),
  }
}

type Config = { readonly [key: string]: Json }

const toolsOfGroup: Record<ToolGroup, readonly string[]> = {
  read: ["read", "glob", "grep", "list", "lsp", "codesearch"],
  write: ["edit", "external_directory"],
  exec: ["bash"],
  web: ["webfetch", "websearch"],
  parallel: ["task"],
  interaction: ["question"],
}

// Task lists and skills have no effects outside of the CLI.
const alwaysGranted = ["todoread", "todowrite", "skill"]

/** Refuses tools that are not listed, so that tools of newer versions are refused too. */
function permissionsOf({ allow, permissions, servers, userServers }: TurnSettings): { [name: string]: Json } {
  if (permissions === "bypass") return { "*": "allow" }
  const granted = grantedGroups({ allow, permissions })
  const allowed = [
    ...granted.flatMap((group) => toolsOfGroup[group]),
    ...alwaysGranted,
    ...[...servers.map(({ name }) => name), ...userServers].map((name) => `${name}_*`),
  ]
  const asked = [...allow].filter((group) => !granted.includes(group)).flatMap((group) => toolsOfGroup[group])
  // If all groups are allowed, `interaction` included, a person is there, who is asked about other tools.
  const rest = toolGroups.every((group) => allow.has(group)) ? "ask" : "deny"
  const entries = [...allowed.map((name) => [name, "allow"]), ...asked.map((name) => [name, "ask"])]
  return { "*": rest, ...Object.fromEntries(entries) }
}

function serversConfig(servers: readonly CliServer[]): { [key: string]: Json } {
  const entries = servers.map((server): [string, Json] => {
    const common = { enabled: true, timeout: server.toolTimeoutMs }
    if ("url" in server) {
      const { url, headers = {} } = server
      return [server.name, { ...common, type: "remote", url, headers: { ...headers }, oauth: false }]
    }
    const { command, args = [], env = {} } = server
    return [server.name, { ...common, type: "local", command: [command, ...args], environment: { ...env } }]
  })
  const timeoutMs = Math.max(...servers.map(({ toolTimeoutMs }) => toolTimeoutMs))
  return { mcp: Object.fromEntries(entries), experimental: { mcp_timeout: timeoutMs } }
}
