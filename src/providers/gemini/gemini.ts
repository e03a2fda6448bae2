// Gemini CLI as an agent: its provider, and the commands, settings and policies that start it.
import { randomUUID } from "node:crypto"
import { mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { checkOptions, mustBeOneOf, type OptionChecks } from "../../core/checks/check-options.ts"
import type { Json } from "../../core/json.ts"
import { createAcpSession } from "../acp/acp-session.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import type { CliOptions } from "../options.ts"
import type { CliServer, Provider, ToolGroup, TurnRequest, TurnSettings } from "../provider.ts"
import { capabilities, grantedGroups, groupsReachableByShell, mayRunCommands, toolGroups } from "../provider.ts"
import type { JsonObject } from "../read-json.ts"
import { createJsonLinesSession, type TurnCommand, type TurnLocation } from "../turn/json-lines-session.ts"
import { promptText, writePrivateFile } from "../turn/prompt-files.ts"
import { createGeminiHome, renameSessionRecord } from "./gemini-home.ts"
import { createGeminiParser } from "./gemini-parser.ts"

export interface GeminiOptions extends CliOptions {
  /** "acp": one process per session, which supports `permissions: "ask"` and images. Default: one process per turn. */
  protocol?: "acp" | undefined
}

const geminiChecks: OptionChecks<GeminiOptions> = { ...cliChecks, protocol: mustBeOneOf("acp") }

/** Creates an agent that works with Gemini CLI. */
export function gemini(given: GeminiOptions = {}): CliAgent {
  checkOptions("gemini()", given, geminiChecks)
  const { protocol, ...options } = given
  return cliAgent(protocol === "acp" ? createAcpProvider() : geminiProvider, options)
}

export const geminiProvider: Provider = {
  name: "gemini",
  title: "Gemini CLI",
  binary: "gemini",
  installFolders: ["~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"],
  install: "npm install -g @google/gemini-cli",
  maker: "google",
  can: capabilities("systemPrompt", "userServers"),
  tiers: { strongest: { model: "pro" }, fast: { model: "flash" } },
  unenforcedGroups: groupsReachableByShell,
  open: (opening) =>
    createJsonLinesSession(
      {
        provider: "gemini",
        title: "Gemini CLI",
        command: turnCommand,
        parser: ({ settings }) => createGeminiParser(settings),
      },
      opening,
    ),
  async terminalCommand({ settings, prompt, key, folder }) {
    const newSessionId = randomUUID()
    const home = await createGeminiHome(settings.env, await createSettings(settings, folder), folder)
    const named = key === undefined ? ["--session-id", newSessionId] : ["--resume", key]
    // One argument, because the prompt may start with a dash.
    const promptArgs = prompt === undefined ? [] : [`--prompt-interactive=${prompt}`]
    return {
      args: [...(await commonFlags(settings, folder)), ...named, ...promptArgs],
      env: { ...home.env, ...(await writeVariables(settings, folder)) },
      key: key ?? newSessionId,
      resumeHint: /gemini --resume '?([\da-f-]{36})/g,
      close: home.close,
    }
  },
}

function createAcpProvider(): Provider {
  const { name, title, can } = geminiProvider
  return {
    ...geminiProvider,
    can: { ...can, images: true, ask: true },
    open: (opening) =>
      createAcpSession(
        {
          provider: name,
          title,
          async launch(settings, { folder, key }) {
            if (key !== undefined) await renameSessionRecord(settings.env, key)
            const home = await createGeminiHome(settings.env, await createSettings(settings, folder), folder)
            const args = ["--acp", ...(await commonFlags(settings, folder))]
            const env = { ...home.env, ...(await writeVariables(settings, folder)) }
            return { args, env, alreadyPassed: ["instructions", "model", "servers"], cleanUp: home.close }
          },
        },
        opening,
      ),
  }
}

async function turnCommand({ message, settings }: TurnRequest, { key, folder }: TurnLocation): Promise<TurnCommand> {
  const args = ["--output-format", "stream-json", ...(await commonFlags(settings, folder))]
  if (key !== undefined) args.push("--resume", key)
  const home = await createGeminiHome(settings.env, await createSettings(settings, folder), folder)
  const env = { ...home.env, ...(await writeVariables(settings, folder)) }
  return { args, env, input: promptText(message), cleanUp: home.close }
}

async function commonFlags(settings: TurnSettings, folder: string): Promise<string[]> {
  const { model, servers, userServers, permissions } = settings
  const args = ["--skip-trust"]
  if (permissions === "bypass") args.push("--approval-mode", "yolo")
  else args.push("--policy", await writePrivateFile(folder, "policy.toml", policyOf(settings)))
  // A name that does not exist excludes all servers of the user.
  const names = [...servers.map((each) => each.name), ...userServers]
  for (const name of names.length > 0 ? names : ["none"]) {
    args.push("--allowed-mcp-server-names", name)
  }
  if (model !== undefined) args.push("--model", model)
  return args
}

async function createSettings({ servers, instructions }: TurnSettings, folder: string): Promise<JsonObject> {
  const settings: JsonObject = {
    mcpServers: serversConfig(servers),
    // Its clean-up could delete conversations that another turn has just started.
    general: { sessionRetention: { enabled: false } },
  }
  if (!instructions) return settings
  const includeDirectories = [await writeMemoryFolder(folder, instructions)]
  return { ...settings, context: { includeDirectories, loadMemoryFromIncludeDirectories: true } }
}

async function writeVariables(settings: TurnSettings, folder: string): Promise<Record<string, string>> {
  const { systemPrompt } = settings
  const prompt = systemPrompt
    ? { GEMINI_SYSTEM_MD: await writePrivateFile(folder, "system-prompt.md", systemPrompt) }
    : {}
  return { ...prompt, ...(await writeSystemSettings(settings, folder)) }
}

/** Disables hooks and commands of the repository if commands are not allowed. Only system settings override those of
 *  the repository. */
async function writeSystemSettings(settings: TurnSettings, folder: string): Promise<Record<string, string>> {
  if (mayRunCommands(settings)) return {}
  const variable = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
  const text = await readFile(settings.env[variable] ?? "/etc/gemini-cli/settings.json", "utf8").catch(() => "{}")
  const off: JsonObject = { hooksConfig: { enabled: false }, tools: { discoveryCommand: "", callCommand: "" } }
  const path = await writePrivateFile(folder, "system-settings.json", JSON.stringify({ ...JSON.parse(text), ...off }))
  return { [variable]: path }
}

async function writeMemoryFolder(folder: string, instructions: string): Promise<string> {
  const memory = join(folder, "instructions")
  await mkdir(memory, { mode: 0o700 })
  await writePrivateFile(memory, "GEMINI.md", instructions)
  return memory
}

const toolsOfGroup: Record<ToolGroup, readonly string[]> = {
  read: ["read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"],
  write: ["write_file", "replace"],
  exec: ["run_shell_command", "read_background_output", "list_background_processes"],
  web: ["web_fetch", "google_web_search"],
  parallel: ["invoke_agent"],
  interaction: ["ask_user"],
}

// Task lists and skills have no effects outside of the CLI.
const alwaysGranted = ["write_todos", "activate_skill", "update_topic", "complete_task"]

/** Refuses tools that are not listed, so that tools of newer versions are refused too. */
function policyOf({ allow, permissions, servers, userServers }: TurnSettings): string {
  const granted = grantedGroups({ allow, permissions })
  const names = [...granted.flatMap((group) => toolsOfGroup[group]), ...alwaysGranted]
  const asked = [...allow].filter((group) => !granted.includes(group)).flatMap((group) => toolsOfGroup[group])
  // If all groups are allowed, `interaction` included, a person is there, who is asked about other tools.
  const rest = toolGroups.every((group) => allow.has(group)) ? "ask_user" : "deny"
  const rules = [
    `toolName = ${JSON.stringify(names)}\ndecision = "allow"\npriority = 900\nallowRedirection = true`,
    ...(asked.length > 0 ? [`toolName = ${JSON.stringify(asked)}\ndecision = "ask_user"\npriority = 900`] : []),
    // Allows all MCP tools: there are only the given servers, and their names differ over ACP.
    ...(servers.length + userServers.length > 0 ? ['toolName = "mcp_*"\ndecision = "allow"\npriority = 900'] : []),
    `toolName = "*"\ndecision = "${rest}"\npriority = 800`,
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
