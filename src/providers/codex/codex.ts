import { checkOptions, mustBeObject, type OptionChecks } from "../../core/checks/check-options.ts"
import type { Price } from "../../core/usage.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import type { CliOptions } from "../options.ts"
import {
  mayRunCommands,
  type Provider,
  type Step,
  type TerminalCommand,
  type TerminalLaunch,
  type ToolGroup,
  type TurnRequest,
  type TurnSettings,
} from "../provider.ts"
import { createJsonLinesSession, type TurnCommand, type TurnPaths } from "../turn/json-lines-session.ts"
import { promptText, writeImageFiles, writePrivateFile } from "../turn/prompt-files.ts"
import { codexMcpServers } from "./codex-mcp-servers.ts"
import { createCodexParser, type ThreadUsage, usageBetween } from "./codex-parser.ts"
import { readStoredThread } from "./codex-thread.ts"
import { type Toml, tomlValue } from "./toml.ts"

export interface CodexOptions extends CliOptions {
  /** Settings of Codex over those of its own file, as in `{ "features.web_search": true }`. Fixed with the agent. */
  config?: Readonly<Record<string, Toml>> | undefined
  /** US dollars per million tokens of its model: Codex reports no cost, and `limits.costUsd` needs one. Default: that of the price list,
   *  where `model` is in it. Fixed with the agent. */
  price?: Price | undefined
}

const codexChecks: OptionChecks<CodexOptions> = { ...cliChecks, config: mustBeObject, price: mustBeObject }

/** Codex as an agent. */
export function codex(given: CodexOptions = {}): CliAgent {
  checkOptions("codex()", given, codexChecks)
  const { config = {}, price, ...options } = given
  return cliAgent(providerWith(config, price), options)
}

export const codexProvider: Provider = providerWith({})

function providerWith(extra: Config, price?: Price): Provider {
  return {
    name: "codex",
    title: "Codex",
    binary: "codex",
    installFolders: ["~/.local/bin", "/usr/local/bin", "/opt/homebrew/bin"],
    install: "npm install -g @openai/codex",
    maker: "openai",
    can: {
      fork: true,
      images: true,
      ask: false,
      steer: false,
      tokens: true,
      cost: false,
      systemPrompt: true,
      userServers: true,
    },
    ...(price && { price }),
    model: (tier) => (tier === "strongest" ? undefined : "gpt-5.4-mini"),
    unenforcedGroups: ({ allow, permissions }) => (permissions === "bypass" ? [] : groupsOutsideSandbox(allow)),
    open(opening) {
      let before: ThreadUsage | undefined
      /** Whether Codex has certainly kept the thread: one that was ended in its first moments is nowhere. */
      let isKept = opening.key !== undefined
      const session = createJsonLinesSession(
        {
          provider: "codex",
          title: "Codex",
          async command(turn, place) {
            const thread = place.key === undefined ? undefined : await readStoredThread(place.key, turn.settings.env)
            const isLost = thread?.found === false && !isKept
            before = thread && !isLost ? thread.usage : zeroUsage
            return await turnCommand(turn, isLost ? { ...place, key: undefined } : place, extra)
          },
          parser: ({ settings: { timeoutMs, idleTimeoutMs } }) =>
            createCodexParser({ before, timeoutMs, idleTimeoutMs }),
        },
        opening,
      )
      return {
        get key() {
          return session.key
        },
        async turn(turn, services) {
          const { env } = turn.settings
          let isOver = false
          // Its stream has figures at the end of the turn alone; its record has them after each answer.
          async function count(): Promise<void> {
            const thread = session.key === undefined ? undefined : await readStoredThread(session.key, env)
            if (isOver || !thread?.usage || !before) return
            if (thread.model !== undefined) services.report({ type: "model", id: thread.model })
            services.report({ type: "usage", usage: usageBetween(before, thread.usage) })
          }
          const tell = (step: Step) => {
            services.report(step)
            if (step.type === "result") void count()
          }
          const end = await session.turn(turn, { ...services, report: tell })
          isOver = true
          isKept ||= end.failure === undefined
          // Its stream does not say what it cost, nor which model to ask the price of.
          const thread = session.key === undefined ? undefined : await readStoredThread(session.key, env)
          if (thread?.model !== undefined) services.report({ type: "model", id: thread.model })
          return end
        },
        close: session.close,
      }
    },
    terminalCommand: (launching) => terminalCommand(launching, extra),
  }
}

const zeroUsage: ThreadUsage = { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 }

async function turnCommand({ message, settings }: TurnRequest, place: TurnPaths, extra: Config): Promise<TurnCommand> {
  const { key, fork, folder } = place
  const { args: common, env } = await commonCommand(settings, extra, folder)
  const args = ["exec", "--json", "--skip-git-repo-check", "--color", "never", ...common]
  for (const image of await writeImageFiles("Codex", message, folder)) args.push("--image", image)
  if (key !== undefined) args.push(fork ? "fork" : "resume", key)
  return { args: [...args, "-"], env, input: promptText(message) }
}

async function terminalCommand(
  { settings, prompt, key, folder }: TerminalLaunch,
  extra: Config,
): Promise<TerminalCommand> {
  const { args, env } = await commonCommand(settings, { check_for_update_on_startup: false, ...extra }, folder)
  const resumed = key === undefined ? [] : ["resume", key]
  const said = prompt === undefined ? [] : ["--", prompt]
  return { args: [...resumed, ...args, ...said], env, key, resumeHint: /codex resume ([\da-f-]{36})/g }
}

async function commonCommand(settings: TurnSettings, extra: Config, folder: string) {
  const { model, reasoning, instructions, systemPrompt, permissions, cwd } = settings
  const servers = await codexMcpServers(settings, folder)
  const args = ["-C", cwd]
  if (permissions === "bypass") args.push("--dangerously-bypass-approvals-and-sandbox")
  else args.push(...configFlags(sandboxConfig(settings)))
  if (model !== undefined) args.push("--model", model)
  const config: { [key: string]: Toml } = {
    ...extra,
    ...(reasoning !== undefined && { model_reasoning_effort: reasoning }),
    ...(instructions && { developer_instructions: instructions }),
    ...(systemPrompt && { model_instructions_file: await writePrivateFile(folder, "system-prompt.md", systemPrompt) }),
    // Those of a repository that the user trusts run commands outside of the sandbox.
    ...(!mayRunCommands(settings) && { "features.hooks": false, "features.plugins": false, notify: [] }),
    ...servers.config,
  }
  return { args: [...args, ...configFlags(config)], env: servers.env }
}

// `exec resume` has no --sandbox: the setting holds for both. Only who may do everything goes without a sandbox, which keeps
// commands from writing outside of the folder, and from the network.
function sandboxConfig({ allow, permissions }: TurnSettings): Config {
  const parallel = { "features.multi_agent": allow.has("parallel") }
  // It asks the person about what the sandbox refuses, and about a search it cannot ask.
  if (permissions === "ask") {
    return { sandbox_mode: "read-only", approval_policy: "on-request", web_search: "disabled", ...parallel }
  }
  const all = allow.has("write") && allow.has("exec") && allow.has("web")
  return {
    sandbox_mode: all ? "danger-full-access" : allow.has("write") ? "workspace-write" : "read-only",
    approval_policy: "never",
    web_search: allow.has("web") ? "live" : "disabled",
    ...parallel,
  }
}

/** What its sandbox does not keep it from: it reads and runs commands in any mode, if only those that change nothing. */
function groupsOutsideSandbox(allow: ReadonlySet<ToolGroup>): ToolGroup[] {
  return (["read", "exec"] as const).filter((group) => !allow.has(group))
}

type Config = Readonly<Record<string, Toml>>

function configFlags(config: Config): string[] {
  return Object.entries(config).flatMap(([key, value]) => ["-c", `${key}=${tomlValue(value)}`])
}
