import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Json } from "../core/json.ts"
import { type CliAgent, cliAgent } from "./cli-agent.ts"
import { type LineCommand, type LinePlace, lineSession } from "./line-cli.ts"
import { opencodeParser } from "./opencode-events.ts"
import type { CliOptions } from "./options.ts"
import { imageFiles, textOf } from "./prompt-files.ts"
import type { CliServer, Provider, Settings, ToolGroup, Turn } from "./provider.ts"

export interface OpencodeOptions extends CliOptions {
  /** Settings of opencode over those of its own files. Fixed with the agent. */
  config?: { readonly [key: string]: Json } | undefined
}

/** opencode as an agent. */
export function opencode({ config, ...options }: OpencodeOptions = {}): CliAgent {
  return cliAgent(config ? providerWith(config) : opencodeProvider, options)
}

export const opencodeProvider: Provider = providerWith({})

function providerWith(config: { readonly [key: string]: Json }): Provider {
  return {
    name: "opencode",
    title: "opencode",
    binary: "opencode",
    places: ["~/.opencode/bin", "~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"],
    install: "npm install -g opencode-ai",
    can: { fork: true, images: true, ask: false, steer: false },
    model: (tier, env) => (tier === "strongest" ? env.OPENCODE_MODEL : env.OPENCODE_SMALL_FAST_MODEL),
    unenforced: () => [],
    open: (opening) =>
      lineSession(
        {
          command: (turn, place) => command(turn, place, config),
          parser: ({ settings }) => opencodeParser(settings),
        },
        opening,
      ),
  }
}

async function command(turn: Turn, place: LinePlace, extra: { readonly [key: string]: Json }): Promise<LineCommand> {
  const { message, settings } = turn
  const { model, reasoning, instructions } = settings
  const args = ["run", "--format", "json", "--thinking"]
  if (settings.permissions === "bypass") args.push("--auto")
  if (model !== undefined) args.push("--model", model)
  if (reasoning !== undefined) args.push("--variant", reasoning)
  if (place.key !== undefined) args.push("--session", place.key, ...(place.fork ? ["--fork"] : []))
  for (const image of await imageFiles("opencode", message, place.folder)) args.push("--file", image)
  const config = {
    autoupdate: false,
    share: "disabled",
    ...extra,
    ...(instructions && { instructions: [await instructionsFile(place.folder, instructions)] }),
    ...(settings.servers.length > 0 && serversConfig(settings.servers)),
    permission: permissionsOf(settings),
  }
  // Not as arguments, which a list of processes shows to everybody, and not in a file, where the user's own would be left out.
  const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_AUTOUPDATE: "1" }
  // Read from its input: it puts quotes around a prompt that is an argument.
  return { args, env, input: textOf(message) }
}

async function instructionsFile(folder: string, text: string): Promise<string> {
  const path = join(folder, "instructions.md")
  await writeFile(path, text, { mode: 0o600 })
  return path
}

const groups: Record<ToolGroup, readonly string[]> = {
  read: ["read", "glob", "grep", "list", "lsp", "codesearch"],
  write: ["edit", "external_directory"],
  exec: ["bash"],
  web: ["webfetch", "websearch"],
  parallel: ["task"],
  interaction: ["question"],
}

// Its own notes and skills touch nothing.
const always = ["todoread", "todowrite", "skill"]

/** What is not named is refused, so that a tool of tomorrow is too. */
function permissionsOf({ allow, permissions, servers }: Settings): { [name: string]: Json } {
  if (permissions === "bypass") return { "*": "allow" }
  const names = [...[...allow].flatMap((group) => groups[group]), ...always, ...servers.map(({ name }) => `${name}_*`)]
  return { "*": "deny", ...Object.fromEntries(names.map((name) => [name, "allow"])) }
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
