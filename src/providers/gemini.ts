import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Json } from "../core/json.ts"
import { type CliAgent, cliAgent } from "./cli-agent.ts"
import { geminiParser } from "./gemini-events.ts"
import { type GeminiHome, openGeminiHome } from "./gemini-home.ts"
import { type LineCommand, type LinePlace, lineSession } from "./line-cli.ts"
import type { CliOptions } from "./options.ts"
import { textOf } from "./prompt-files.ts"
import type { CliServer, Provider, Settings, ToolGroup, Turn } from "./provider.ts"
import type { JsonObject } from "./read-json.ts"

/** Gemini CLI as an agent. */
export function gemini(options: CliOptions = {}): CliAgent {
  return cliAgent(geminiProvider, options)
}

export const geminiProvider: Provider = {
  name: "gemini",
  title: "Gemini CLI",
  binary: "gemini",
  places: ["~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"],
  install: "npm install -g @google/gemini-cli",
  maker: "google",
  can: { fork: false, images: false, ask: false, steer: false },
  model: (tier) => (tier === "strongest" ? "pro" : "flash"),
  unenforced: () => [],
  open(opening) {
    let home: GeminiHome | undefined
    const session = lineSession(
      {
        async command(turn, place) {
          home = await openGeminiHome(turn.settings.env, await settingsOf(turn.settings, place.folder))
          return await command(turn, place, home)
        },
        parser: ({ settings }) => geminiParser(settings),
      },
      opening,
    )
    return {
      get key() {
        return session.key
      },
      async turn(turn, services) {
        try {
          return await session.turn(turn, services)
        } finally {
          await home?.close()
          home = undefined
        }
      },
      close: session.close,
    }
  },
}

async function command(
  { message, settings }: Turn,
  { key, folder }: LinePlace,
  home: GeminiHome,
): Promise<LineCommand> {
  const { model, servers, permissions } = settings
  const args = ["--output-format", "stream-json", "--skip-trust"]
  if (permissions === "bypass") args.push("--approval-mode", "yolo")
  else args.push("--policy", await privateFile(folder, "policy.toml", policyOf(settings)))
  // Of the servers that the user has, none: a name that none has keeps all of them out.
  for (const name of servers.length > 0 ? servers.map((each) => each.name) : ["none"]) {
    args.push("--allowed-mcp-server-names", name)
  }
  if (model !== undefined) args.push("--model", model)
  if (key !== undefined) args.push("--resume", key)
  return { args, env: home.env, input: textOf(message) }
}

async function settingsOf({ servers, instructions }: Settings, folder: string): Promise<JsonObject> {
  if (!instructions) return { mcpServers: serversConfig(servers) }
  const context = {
    includeDirectories: [await memoryFolder(folder, instructions)],
    loadMemoryFromIncludeDirectories: true,
  }
  return { mcpServers: serversConfig(servers), context }
}

async function memoryFolder(folder: string, instructions: string): Promise<string> {
  const memory = join(folder, "instructions")
  await mkdir(memory, { mode: 0o700 })
  await privateFile(memory, "GEMINI.md", instructions)
  return memory
}

async function privateFile(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text, { mode: 0o600 })
  return path
}

const groups: Record<ToolGroup, readonly string[]> = {
  read: ["read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"],
  write: ["write_file", "replace"],
  exec: ["run_shell_command", "read_background_output", "list_background_processes"],
  web: ["web_fetch", "google_web_search"],
  parallel: ["invoke_agent"],
  interaction: ["ask_user"],
}

// Its own notes and skills touch nothing.
const always = ["write_todos", "activate_skill", "update_topic", "complete_task"]

/** What is not named is refused, so that a tool of tomorrow is too. */
function policyOf({ allow, servers }: Settings): string {
  const names = [...[...allow].flatMap((group) => groups[group]), ...always]
  const rules = [
    `toolName = ${JSON.stringify(names)}\ndecision = "allow"\npriority = 900`,
    ...servers.map(
      ({ name }) => `mcpName = ${JSON.stringify(name)}\ntoolName = "*"\ndecision = "allow"\npriority = 900`,
    ),
    'toolName = "*"\ndecision = "deny"\npriority = 800',
  ]
  return rules.map((rule) => `[[rule]]\n${rule}\n`).join("\n")
}

function serversConfig(servers: readonly CliServer[]): { [name: string]: Json } {
  return Object.fromEntries(
    servers.map((server): [string, Json] => {
      const common = { timeout: server.toolTimeoutMs, trust: true }
      if ("url" in server) return [server.name, { ...common, httpUrl: server.url, headers: { ...server.headers } }]
      const { command, args = [], env = {} } = server
      return [server.name, { ...common, command, args: [...args], env: { ...env } }]
    }),
  )
}
