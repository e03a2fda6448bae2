import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { checkOptions, mustBeObject, mustBeOneOf, type OptionChecks } from "../../core/checks/check-options.ts"
import type { Json } from "../../core/json.ts"
import { createAcpSession } from "../acp/acp-session.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import type { CliOptions } from "../options.ts"
import {
  type CliServer,
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
import { createJsonLinesSession, type TurnCommand, type TurnPaths } from "../turn/json-lines-session.ts"
import { promptText, writeImageFiles } from "../turn/prompt-files.ts"
import { createOpencodeParser } from "./opencode-parser.ts"

export interface OpencodeOptions extends CliOptions {
  /** Settings of opencode over those of its own files. Fixed with the agent. */
  config?: { readonly [key: string]: Json } | undefined
  /** "acp": one process for a whole session, which can ask (`permissions: "ask"`) and not be forked. Default: one a turn. */
  protocol?: "acp" | undefined
}

const opencodeChecks: OptionChecks<OpencodeOptions> = {
  ...cliChecks,
  config: mustBeObject,
  protocol: mustBeOneOf("acp"),
}

/** opencode as an agent. */
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
    can: {
      fork: true,
      images: true,
      ask: false,
      steer: false,
      tokens: true,
      cost: true,
      systemPrompt: true,
      userServers: true,
    },
    model: (tier, env) => (tier === "strongest" ? env.OPENCODE_MODEL : env.OPENCODE_SMALL_FAST_MODEL),
    unenforcedGroups: groupsReachableByShell,
    open: (opening) =>
      createJsonLinesSession(
        {
          provider: "opencode",
          title: "opencode",
          command: (turn, place) => turnCommand(turn, place, config),
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
            // It tries a failing service again for minutes and does not say so: its log does.
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
  place: TurnPaths,
  extra: { readonly [key: string]: Json },
): Promise<TurnCommand> {
  const { message, settings } = turn
  const { model, reasoning } = settings
  // Its log says when a call begins, which its stream does not.
  const args = ["run", "--format", "json", "--thinking", "--print-logs", "--log-level", "INFO"]
  if (settings.permissions === "bypass") args.push("--auto")
  if (model !== undefined) args.push("--model", model)
  if (reasoning !== undefined) args.push("--variant", reasoning)
  if (place.key !== undefined) args.push("--session", place.key, ...(place.fork ? ["--fork"] : []))
  for (const image of await writeImageFiles("opencode", message, place.folder)) args.push("--file", image)
  // Read from its input: it puts quotes around a prompt that is an argument.
  return { args, env: await createEnvironment(settings, place.folder, extra), input: promptText(message) }
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
  // In one word, for one that begins with a dash.
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
    ...(instructions && { instructions: [await writeInstructions(folder, instructions)] }),
    // That of the agent it works with unless it is told otherwise.
    ...(systemPrompt && { agent: { build: { prompt: systemPrompt } } }),
    ...(settings.servers.length > 0 && serversConfig(settings.servers)),
    permission: permissionsOf(settings),
  }
  // Not as arguments, which a list of processes shows to everybody, and not in a file, where the user's own would be left out.
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    // Plugins of the repository are programs.
    ...(!mayRunCommands(settings) && { OPENCODE_DISABLE_PROJECT_CONFIG: "1" }),
  }
}

type Config = { readonly [key: string]: Json }

async function writeInstructions(folder: string, text: string): Promise<string> {
  const path = join(folder, "instructions.md")
  await writeFile(path, text, { mode: 0o600 })
  return path
}

const toolsOfGroup: Record<ToolGroup, readonly string[]> = {
  read: ["read", "glob", "grep", "list", "lsp", "codesearch"],
  write: ["edit", "external_directory"],
  exec: ["bash"],
  web: ["webfetch", "websearch"],
  parallel: ["task"],
  interaction: ["question"],
}

// Its own notes and skills touch nothing.
const alwaysGranted = ["todoread", "todowrite", "skill"]

/** What is not named is refused, so that a tool of tomorrow is too. */
function permissionsOf({ allow, permissions, servers, userServers }: TurnSettings): { [name: string]: Json } {
  if (permissions === "bypass") return { "*": "allow" }
  const granted = permissions === "ask" ? [...allow].filter((group) => group === "read") : [...allow]
  const allowed = [
    ...granted.flatMap((group) => toolsOfGroup[group]),
    ...alwaysGranted,
    ...[...servers.map(({ name }) => name), ...userServers].map((name) => `${name}_*`),
  ]
  const asked = [...allow].filter((group) => !granted.includes(group)).flatMap((group) => toolsOfGroup[group])
  // Where nothing is left out there is a person, who is asked about what is not named.
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
  const patience = Math.max(...servers.map(({ toolTimeoutMs }) => toolTimeoutMs))
  return { mcp: Object.fromEntries(entries), experimental: { mcp_timeout: patience } }
}
