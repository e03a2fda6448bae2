import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { checkOptions, mustBeAtLeast, type OptionChecks } from "../../core/checks/check-options.ts"
import type { Json } from "../../core/json.ts"
import type { PromptPart, UserMessage } from "../../core/message.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import { type CliOptions, requireKnownServers } from "../options.ts"
import {
  type CliServer,
  groupsReachableByShell,
  mayRunCommands,
  type Provider,
  type ProviderSession,
  type TurnRequest,
  type TurnSettings,
} from "../provider.ts"
import { type JsonObject, objectAt } from "../read-json.ts"
import { createJsonLinesSession, type TurnCommand, type TurnPaths } from "../turn/json-lines-session.ts"
import { writePrivateFile } from "../turn/prompt-files.ts"
import { createClaudeParser } from "./claude-parser.ts"
import { permissionFlags, terminalPermissionFlags } from "./claude-tools.ts"
import { readStoredTotal, zeroTotal } from "./claude-usage-total.ts"

export interface ClaudeOptions extends CliOptions {
  /** How long a turn that has its answer waits for commands and agents that Claude Code runs in the background; they are ended then, with
   *  the warning `background-ended`. Fixed with the agent. Default 5 minutes. */
  backgroundMs?: number | undefined
}

const claudeChecks: OptionChecks<ClaudeOptions> = { ...cliChecks, backgroundMs: mustBeAtLeast(0) }

/** Claude Code as an agent. */
export function claude(given: ClaudeOptions = {}): CliAgent {
  checkOptions("claude()", given, claudeChecks)
  const { backgroundMs, ...options } = given
  return cliAgent(backgroundMs === undefined ? claudeProvider : providerWith(backgroundMs), options)
}

function providerWith(backgroundMs: number): Provider {
  return { ...claudeProvider, open: (opening) => openSession(opening, backgroundMs) }
}

function openSession(opening: Parameters<Provider["open"]>[0], backgroundMs?: number): ProviderSession {
  // Chosen here, so that it is known from the start.
  const fresh = randomUUID()
  let before = zeroTotal
  return createJsonLinesSession(
    {
      provider: "claude",
      title: "Claude Code",
      async command(turn, place) {
        before = await readStoredTotal(place.key, turn.settings.env)
        return await turnCommand(turn, place, fresh)
      },
      parser: ({ settings }) => createClaudeParser({ ...settings, before, backgroundMs }),
    },
    opening,
  )
}

export const claudeProvider: Provider = {
  name: "claude",
  title: "Claude Code",
  binary: "claude",
  installFolders: ["~/.claude/local", "~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"],
  install: "npm install -g @anthropic-ai/claude-code",
  maker: "anthropic",
  can: {
    fork: true,
    images: true,
    ask: true,
    steer: true,
    tokens: true,
    cost: true,
    systemPrompt: true,
    userServers: true,
  },
  model: (tier, env) =>
    tier === "strongest" ? (env.ANTHROPIC_MODEL ?? "opus") : (env.ANTHROPIC_SMALL_FAST_MODEL ?? "haiku"),
  unenforcedGroups: groupsReachableByShell,
  open: (opening) => openSession(opening),
  async terminalCommand({ settings, prompt, key, folder }) {
    const fresh = randomUUID()
    const { args, env } = await commonCommand(settings, { key, fork: false, folder }, fresh)
    // One of its flags takes whatever follows.
    const said = prompt === undefined ? [] : ["--", prompt]
    return {
      args: [...args, ...terminalPermissionFlags(settings), ...said],
      env,
      key: key ?? fresh,
      resumeHint: /claude --resume ([\da-f-]{36})/g,
    }
  },
}

async function turnCommand({ message, settings }: TurnRequest, place: TurnPaths, fresh: string): Promise<TurnCommand> {
  const { args, env } = await commonCommand(settings, place, fresh)
  return {
    args: [...streamFlags, ...args, ...permissionFlags(settings)],
    env,
    input: `${JSON.stringify(userLine(message))}\n`,
    keepsInputOpen: true,
  }
}

const streamFlags = [
  ...["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
  ...["--include-partial-messages", "--replay-user-messages"],
]

async function commonCommand(settings: TurnSettings, { key, fork, folder }: TurnPaths, fresh: string) {
  const { model, reasoning, servers } = settings
  const args = ["--strict-mcp-config"]
  // Hooks, plugins and helpers of the repository run commands, and nobody is asked whether it is trusted.
  if (!mayRunCommands(settings)) args.push("--setting-sources", "user")
  const instructions = await readInstructions(settings)
  if (key === undefined) args.push("--session-id", fresh)
  else args.push("--resume", key, ...(fork ? ["--fork-session"] : []))
  if (model !== undefined) args.push("--model", model)
  if (reasoning !== undefined) args.push("--effort", reasoning)
  // In files, because they may be long, and a list of processes shows arguments to everybody.
  if (instructions)
    args.push("--append-system-prompt-file", await writePrivateFile(folder, "instructions.md", instructions))
  const { systemPrompt } = settings
  if (systemPrompt) args.push("--system-prompt-file", await writePrivateFile(folder, "system-prompt.md", systemPrompt))
  const mcpServers = { ...(await readUserServers(settings)), ...mcpConfig(servers) }
  if (Object.keys(mcpServers).length > 0)
    args.push("--mcp-config", await writePrivateFile(folder, "mcp.json", JSON.stringify({ mcpServers })))
  const patience = Math.max(0, ...servers.map(({ toolTimeoutMs }) => toolTimeoutMs))
  const env: Record<string, string> = patience > 0 ? { MCP_TOOL_TIMEOUT: String(patience) } : {}
  return { args, env }
}

/** Without the settings of the repository, Claude Code does not read its CLAUDE.md either. */
async function readInstructions(settings: TurnSettings): Promise<string | undefined> {
  if (mayRunCommands(settings)) return settings.instructions
  const files = ["CLAUDE.md", join(".claude", "CLAUDE.md")].map((name) => join(settings.cwd, name))
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")))
  return [...texts, settings.instructions].filter(Boolean).join("\n\n")
}

function mcpConfig(servers: readonly CliServer[]): JsonObject {
  const entries = servers.map((server) => {
    const { name, toolTimeoutMs: _, ...rest } = server
    return [name, "url" in rest ? { type: "http", ...rest } : rest]
  })
  return Object.fromEntries(entries)
}

/** The servers of the user's own that are allowed, as Claude Code has written them down: for the user, and for this folder. */
async function readUserServers({ userServers: names, env, cwd }: TurnSettings): Promise<JsonObject> {
  if (names.length === 0) return {}
  const file = join(env.CLAUDE_CONFIG_DIR ?? env.HOME ?? homedir(), ".claude.json")
  const config: Json = JSON.parse(await readFile(file, "utf8").catch(() => "{}"))
  const known = { ...objectAt(config, "mcpServers"), ...objectAt(config, "projects", cwd, "mcpServers") }
  requireKnownServers("Claude Code", names, Object.keys(known))
  return Object.fromEntries(names.map((name) => [name, known[name] ?? null]))
}

function userLine({ parts }: UserMessage): Json {
  const content = parts.map(
    (part): Json => (part.type === "image" ? imageBlock(part) : { type: "text", text: part.text }),
  )
  return { type: "user", message: { role: "user", content } }
}

function imageBlock({ mediaType, data }: Extract<PromptPart, { type: "image" }>): Json {
  if (/^https?:/.test(data)) return { type: "image", source: { type: "url", url: data } }
  return { type: "image", source: { type: "base64", media_type: mediaType, data } }
}
