import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { checkOptions, isFrom, type OptionChecks } from "../core/check-options.ts"
import type { Json } from "../core/json.ts"
import type { PromptPart, UserMessage } from "../core/message.ts"
import { claudeParser } from "./claude-events.ts"
import { launchFlags, permissionFlags } from "./claude-tools.ts"
import { nothingUsed, readTotal } from "./claude-total.ts"
import { type CliAgent, cliAgent } from "./cli-agent.ts"
import { type LineCommand, type LinePlace, lineSession } from "./line-cli.ts"
import { cliChecks } from "./option-checks.ts"
import { type CliOptions, requireServers } from "./options.ts"
import { privateFile } from "./prompt-files.ts"
import {
  type CliServer,
  type Provider,
  type ProviderSession,
  runsCommands,
  type Settings,
  type Turn,
  withinReachOfShell,
} from "./provider.ts"
import { type JsonObject, objectAt } from "./read-json.ts"

export interface ClaudeOptions extends CliOptions {
  /** How long a turn that has its answer waits for commands and agents that Claude Code runs in the background; they are ended then, with
   *  the warning `background-ended`. Fixed with the agent. Default 5 minutes. */
  backgroundMs?: number | undefined
}

const claudeChecks: OptionChecks<ClaudeOptions> = { ...cliChecks, backgroundMs: isFrom(0) }

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
  let before = nothingUsed
  return lineSession(
    {
      provider: "claude",
      title: "Claude Code",
      async command(turn, place) {
        before = await readTotal(place.key, turn.settings.env)
        return await command(turn, place, fresh)
      },
      parser: ({ settings }) => claudeParser({ ...settings, before, backgroundMs }),
    },
    opening,
  )
}

export const claudeProvider: Provider = {
  name: "claude",
  title: "Claude Code",
  binary: "claude",
  places: ["~/.claude/local", "~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"],
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
  unenforced: withinReachOfShell,
  open: (opening) => openSession(opening),
  async launch({ settings, prompt, key, folder }) {
    const fresh = randomUUID()
    const { args, env } = await commonFlags(settings, { key, fork: false, folder }, fresh)
    // One of its flags takes whatever follows.
    const said = prompt === undefined ? [] : ["--", prompt]
    return {
      args: [...args, ...launchFlags(settings), ...said],
      env,
      key: key ?? fresh,
      farewell: /claude --resume ([\da-f-]{36})/g,
    }
  },
}

async function command({ message, settings }: Turn, place: LinePlace, fresh: string): Promise<LineCommand> {
  const { args, env } = await commonFlags(settings, place, fresh)
  return {
    args: [...streaming, ...args, ...permissionFlags(settings)],
    env,
    input: `${JSON.stringify(userLine(message))}\n`,
    keepsReading: true,
  }
}

const streaming = [
  ...["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
  ...["--include-partial-messages", "--replay-user-messages"],
]

async function commonFlags(settings: Settings, { key, fork, folder }: LinePlace, fresh: string) {
  const { model, reasoning, servers } = settings
  const args = ["--strict-mcp-config"]
  // Hooks, plugins and helpers of the repository run commands, and nobody is asked whether it is trusted.
  if (!runsCommands(settings)) args.push("--setting-sources", "user")
  const instructions = await instructionsOf(settings)
  if (key === undefined) args.push("--session-id", fresh)
  else args.push("--resume", key, ...(fork ? ["--fork-session"] : []))
  if (model !== undefined) args.push("--model", model)
  if (reasoning !== undefined) args.push("--effort", reasoning)
  // In files, because they may be long, and a list of processes shows arguments to everybody.
  if (instructions) args.push("--append-system-prompt-file", await privateFile(folder, "instructions.md", instructions))
  const { systemPrompt } = settings
  if (systemPrompt) args.push("--system-prompt-file", await privateFile(folder, "system-prompt.md", systemPrompt))
  const mcpServers = { ...(await userServers(settings)), ...mcpConfig(servers) }
  if (Object.keys(mcpServers).length > 0)
    args.push("--mcp-config", await privateFile(folder, "mcp.json", JSON.stringify({ mcpServers })))
  const patience = Math.max(0, ...servers.map(({ toolTimeoutMs }) => toolTimeoutMs))
  const env: Record<string, string> = patience > 0 ? { MCP_TOOL_TIMEOUT: String(patience) } : {}
  return { args, env }
}

/** Without the settings of the repository, Claude Code does not read its CLAUDE.md either. */
async function instructionsOf(settings: Settings): Promise<string | undefined> {
  if (runsCommands(settings)) return settings.instructions
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
async function userServers({ userServers: names, env, cwd }: Settings): Promise<JsonObject> {
  if (names.length === 0) return {}
  const file = join(env.CLAUDE_CONFIG_DIR ?? env.HOME ?? homedir(), ".claude.json")
  const config: Json = JSON.parse(await readFile(file, "utf8").catch(() => "{}"))
  const known = { ...objectAt(config, "mcpServers"), ...objectAt(config, "projects", cwd, "mcpServers") }
  requireServers("Claude Code", names, Object.keys(known))
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
