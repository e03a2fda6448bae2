// Claude Code as an agent: its provider, and the commands that start it.
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { checkOptions, mustBeLimit, type OptionChecks } from "../../core/checks/check-options.ts"
import type { Json } from "../../core/json.ts"
import type { PromptPart, UserMessage } from "../../core/message.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import { type CliOptions, requireKnownServers } from "../options.ts"
import type { CliServer, Provider, ProviderSession, TurnRequest, TurnSettings } from "../provider.ts"
import { capabilities, groupsReachableByShell, mayRunCommands } from "../provider.ts"
import { type JsonObject, objectAt } from "../read-json.ts"
import { createJsonLinesSession, type TurnCommand, type TurnLocation } from "../turn/json-lines-session.ts"
import { writePrivateFile } from "../turn/prompt-files.ts"
import { createClaudeParser } from "./claude-parser.ts"
import { permissionFlags, terminalPermissionFlags } from "./claude-tools.ts"
import { readStoredTotal, zeroTotal } from "./claude-usage-total.ts"
import { readProjectInstructions } from "./project-instructions.ts"

export interface ClaudeOptions extends CliOptions {
  /** How long a turn waits, after its answer, for commands and agents that Claude Code runs in the background. Then
   *  they are ended, with the warning `background-ended`. Cannot be changed by run or session. Default 5 minutes. */
  backgroundTimeoutMs?: number | undefined
}

const claudeChecks: OptionChecks<ClaudeOptions> = { ...cliChecks, backgroundTimeoutMs: mustBeLimit(0) }

/** Creates an agent that works with Claude Code. */
export function claude(given: ClaudeOptions = {}): CliAgent {
  checkOptions("claude()", given, claudeChecks)
  const { backgroundTimeoutMs, ...options } = given
  return cliAgent(backgroundTimeoutMs === undefined ? claudeProvider : providerWith(backgroundTimeoutMs), options)
}

function providerWith(backgroundTimeoutMs: number): Provider {
  return { ...claudeProvider, open: (opening) => openSession(opening, backgroundTimeoutMs) }
}

function openSession(opening: Parameters<Provider["open"]>[0], backgroundTimeoutMs?: number): ProviderSession {
  // We choose the session id, so that it is known in advance.
  const newSessionId = randomUUID()
  // Set by `command`, which runs before `parser`.
  let totalBeforeTurn = zeroTotal
  return createJsonLinesSession(
    {
      provider: "claude",
      title: "Claude Code",
      async command(turn, location) {
        totalBeforeTurn = await readStoredTotal(location.key, turn.settings.env)
        return await turnCommand(turn, location, newSessionId)
      },
      parser: ({ settings }) => createClaudeParser({ ...settings, totalBeforeTurn, backgroundTimeoutMs }),
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
  can: capabilities("fork", "images", "ask", "steer", "tokens", "cost", "systemPrompt", "userServers"),
  tiers: {
    strongest: { model: "opus", variable: "ANTHROPIC_MODEL" },
    fast: { model: "haiku", variable: "ANTHROPIC_SMALL_FAST_MODEL" },
  },
  unenforcedGroups: groupsReachableByShell,
  open: (opening) => openSession(opening),
  async terminalCommand({ settings, prompt, key, folder }) {
    const newSessionId = randomUUID()
    const { args, env } = await commonArguments(settings, { key, fork: false, folder }, newSessionId)
    // `--` ends flags that take several values.
    const promptArgs = prompt === undefined ? [] : ["--", prompt]
    return {
      args: [...args, ...terminalPermissionFlags(settings), ...promptArgs],
      env,
      key: key ?? newSessionId,
      resumeHint: /claude --resume ([\da-f-]{36})/g,
    }
  },
}

async function turnCommand(
  { message, settings }: TurnRequest,
  location: TurnLocation,
  newSessionId: string,
): Promise<TurnCommand> {
  const { args, env } = await commonArguments(settings, location, newSessionId)
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

async function commonArguments(settings: TurnSettings, { key, fork, folder }: TurnLocation, newSessionId: string) {
  const { model, reasoning, servers, systemPrompt } = settings
  const args = ["--strict-mcp-config"]
  // Hooks, plugins and helpers of the repository would run commands although the user has not allowed commands.
  if (!mayRunCommands(settings)) args.push("--setting-sources", "user")
  const instructions = await readInstructions(settings)
  if (key === undefined) args.push("--session-id", newSessionId)
  else args.push("--resume", key, ...(fork ? ["--fork-session"] : []))
  if (model !== undefined) args.push("--model", model)
  if (reasoning !== undefined) args.push("--effort", reasoning)
  if (instructions)
    args.push("--append-system-prompt-file", await writePrivateFile(folder, "instructions.md", instructions))
  if (systemPrompt) args.push("--system-prompt-file", await writePrivateFile(folder, "system-prompt.md", systemPrompt))
  const mcpServers = { ...(await readUserServers(settings)), ...mcpConfig(servers) }
  if (Object.keys(mcpServers).length > 0)
    args.push("--mcp-config", await writePrivateFile(folder, "mcp.json", JSON.stringify({ mcpServers })))
  const timeoutMs = Math.max(0, ...servers.map(({ toolTimeoutMs }) => toolTimeoutMs))
  const env: Record<string, string> = timeoutMs > 0 ? { MCP_TOOL_TIMEOUT: String(timeoutMs) } : {}
  return { args, env }
}

/** Returns the instructions. Without commands, CLAUDE.md is read here, because `--setting-sources user` skips it. */
async function readInstructions(settings: TurnSettings): Promise<string | undefined> {
  if (mayRunCommands(settings)) return settings.instructions
  const texts = await readProjectInstructions(settings.cwd)
  return [...texts, settings.instructions].filter(Boolean).join("\n\n")
}

function mcpConfig(servers: readonly CliServer[]): JsonObject {
  const entries = servers.map((server) => {
    const { name, toolTimeoutMs: _, ...rest } = server
    return [name, "url" in rest ? { type: "http", ...rest } : rest]
  })
  return Object.fromEntries(entries)
}

/** The allowed servers of the user's configuration: those for all folders, and those for this folder. */
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
