// Codex as an agent: its provider, and the commands that start it.

import { checkOptions, mustBeObject, type OptionChecks } from "../../core/checks/check-options.ts"
import { mustBePrice } from "../../core/checks/limit-checks.ts"
import type { Price } from "../../core/usage.ts"
import { type CliAgent, cliAgent } from "../cli-agent.ts"
import { cliChecks } from "../option-checks.ts"
import type { CliOptions } from "../options.ts"
import {
  capabilities,
  mayRunCommands,
  type Provider,
  type Step,
  type TerminalCommand,
  type TerminalLaunch,
  type ToolGroup,
  type TurnRequest,
  type TurnSettings,
} from "../provider.ts"
import { createJsonLinesSession, type TurnCommand, type TurnLocation } from "../turn/json-lines-session.ts"
import { promptText, writeImageFiles, writePrivateFile } from "../turn/prompt-files.ts"
import { codexMcpServers } from "./codex-mcp-servers.ts"
import { createCodexParser, type ThreadUsage, usageBetween } from "./codex-parser.ts"
import { readStoredThread } from "./codex-thread.ts"
import { type Toml, tomlValue } from "./toml.ts"

export interface CodexOptions extends CliOptions {
  /** Codex settings that override its config file, such as `{ "features.web_search": true }`. Fixed for the agent. */
  config?: Readonly<Record<string, Toml>> | undefined
  /** US dollars per million tokens of its model, needed for `limits.costUsd` because Codex reports no cost. Default:
   *  the price list's entry for `model`, if there is one. Fixed for the agent. */
  price?: Price | undefined
}

const codexChecks: OptionChecks<CodexOptions> = { ...cliChecks, config: mustBeObject, price: mustBePrice }

/** Creates an agent that works with Codex. */
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
    can: capabilities("fork", "images", "tokens", "systemPrompt", "userServers"),
    ...(price && { price }),
    tiers: { strongest: {}, fast: { model: "gpt-5.4-mini" } },
    unenforcedGroups: ({ allow, permissions }) => (permissions === "bypass" ? [] : groupsOutsideSandbox(allow)),
    open(opening) {
      let totalBeforeTurn: ThreadUsage | undefined
      /** True if Codex has certainly stored the thread; it stores none that was stopped right after its start. */
      let isStored = opening.key !== undefined
      const session = createJsonLinesSession(
        {
          provider: "codex",
          title: "Codex",
          async command(turn, { key, ...rest }) {
            const thread = key === undefined ? undefined : await readStoredThread(key, turn.settings.env)
            const isLost = thread?.found === false && !isStored
            totalBeforeTurn = thread && !isLost ? thread.usage : zeroUsage
            return await turnCommand(turn, { ...rest, key: isLost ? undefined : key }, extra)
          },
          parser: ({ settings: { timeoutMs, idleTimeoutMs } }) =>
            createCodexParser({ totalBeforeTurn, timeoutMs, idleTimeoutMs }),
        },
        opening,
      )
      return {
        get key() {
          return session.key
        },
        get forkOf() {
          return session.forkOf
        },
        async turn(turn, services) {
          const { env } = turn.settings
          let isOver = false
          // The stream has usage only at the end of the turn; the stored thread has it after each answer.
          async function reportUsage(): Promise<void> {
            const thread = session.key === undefined ? undefined : await readStoredThread(session.key, env)
            if (isOver || !thread?.usage || !totalBeforeTurn) return
            if (thread.model !== undefined) services.report({ type: "model", id: thread.model })
            services.report({ type: "usage", usage: usageBetween(totalBeforeTurn, thread.usage) })
          }
          const tell = (step: Step) => {
            services.report(step)
            if (step.type === "result") void reportUsage()
          }
          const end = await session.turn(turn, { ...services, report: tell })
          isOver = true
          isStored ||= end.failure === undefined
          // The stream does not name the model, which is needed for the price.
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

async function turnCommand(
  { message, settings }: TurnRequest,
  { key, fork, folder }: TurnLocation,
  extra: Config,
): Promise<TurnCommand> {
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
  const promptArgs = prompt === undefined ? [] : ["--", prompt]
  return { args: [...resumed, ...args, ...promptArgs], env, key, resumeHint: /codex resume ([\da-f-]{36})/g }
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
    // Hooks and plugins of a trusted repository run commands outside of the sandbox.
    ...(!mayRunCommands(settings) && { "features.hooks": false, "features.plugins": false, notify: [] }),
    ...servers.config,
  }
  return { args: [...args, ...configFlags(config)], env: servers.env }
}

// Set by config, because `exec resume` has no --sandbox flag. The sandbox keeps commands from the network and from
// writing outside of the folder; without restrictions there is no sandbox.
function sandboxConfig({ allow, permissions }: TurnSettings): Config {
  const parallel = { "features.multi_agent": allow.has("parallel") }
  // In a terminal Codex asks about what the sandbox refuses. It cannot ask about web searches, so they are disabled.
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

/** The groups its sandbox does not refuse: in every mode Codex can read and run commands that change nothing. */
function groupsOutsideSandbox(allow: ReadonlySet<ToolGroup>): ToolGroup[] {
  return (["read", "exec"] as const).filter((group) => !allow.has(group))
}

type Config = Readonly<Record<string, Toml>>

function configFlags(config: Config): string[] {
  return Object.entries(config).flatMap(([key, value]) => ["-c", `${key}=${tomlValue(value)}`])
}
