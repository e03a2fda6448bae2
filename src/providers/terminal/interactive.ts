// Starts a coding CLI in the terminal of this process, for a person to work with.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkOptions } from "../../core/checks/check-options.ts"
import { ConfigError, UnsupportedError } from "../../core/errors.ts"
import { newId } from "../../core/message.ts"
import { openRuntime, runtimeContext } from "../../runtime/open-runtime.ts"
import { refuseForeignCwd } from "../../sessions/handle-trust.ts"
import { cliSessionHandle, parseSessionHandle, type SessionHandleParts } from "../../sessions/session-handle.ts"
import { eventObserver } from "../cli-agent.ts"
import { requireSafeKey, requireSameProvider, sessionNotFoundError } from "../cli-session-metadata.ts"
import { requireFolder, requireProgram } from "../find-program.ts"
import { cliChecks } from "../option-checks.ts"
import { type CliConfig, type CliOptions, resolveOptions } from "../options.ts"
import { type Provider, type TerminalCommand, toolGroups } from "../provider.ts"
import { serveTools } from "../serve-tools.ts"
import { chooseProvider } from "./choose-provider.ts"
import { type PtyEnd, runInPty } from "./pty.ts"
import { requireTerminal, type UserTerminal } from "./user-terminal.ts"

/** The options of `interactive`: those of the agent, and these. By default all groups are allowed; with "ask", every
 *  CLI asks the person at the terminal. */
export interface InteractiveOptions extends Partial<CliOptions>, InteractiveChoices {}

export interface InteractiveChoices {
  /** How many of the last bytes shown are returned as `output`. Default 1 MiB. */
  maxCaptureBytes?: number | undefined
  /** Lets the person choose among the installed CLIs first; the choice replaces the agent's CLI. Default: false. */
  selectProvider?: boolean | undefined
  /** The handle of a session to resume. */
  resume?: string | undefined
  /** Ends the CLI. */
  signal?: AbortSignal | undefined
}

export interface InteractiveResult {
  /** The CLI that was started; undefined if the person chose none. */
  provider: string | undefined
  /** The exit code of the CLI, or 128 plus the number of the signal that ended it; 130 if the person chose none. */
  exitCode: number
  /** What was shown, with all terminal sequences. */
  output: string
  /** The CLI's id of the conversation, if known. The CLI may not have stored a conversation without messages. */
  sessionId: string | undefined
  /** For `agent.session({ resume })` and `agent.interactive("…", { resume })`, here or in another process. */
  handle: string | undefined
}

/** Starts a CLI in the terminal of this process and resolves when it has exited. */
export async function runInteractive(
  own: Provider,
  options: CliOptions,
  prompt: string | undefined,
  { maxCaptureBytes = 2 ** 20, selectProvider = false, resume, signal }: InteractiveChoices,
): Promise<InteractiveResult> {
  if (!(maxCaptureBytes >= 0))
    throw new ConfigError(`maxCaptureBytes: ${maxCaptureBytes} is not a number of at least 0.`)
  checkOptions(`${own.name}.interactive()`, options, cliChecks)
  const terminal = requireTerminal(`${own.name}.interactive()`)
  const configured = { provider: own, options }
  const chosen = selectProvider ? await chooseProvider(configured, terminal, signal) : configured
  if (!chosen) return { provider: undefined, exitCode: 130, output: "", sessionId: undefined, handle: undefined }
  const { provider } = chosen
  const earlier = resume === undefined ? undefined : parseResumeHandle(provider, resume)
  const config = interactiveConfig(provider, chosen.options)
  if (config.cwd === undefined && earlier?.cwd !== undefined) refuseForeignCwd(earlier.cwd)
  const cwd = requireFolder(config.cwd ?? earlier?.cwd)
  const { end, key } = await launchInTerminal({
    provider,
    config,
    prompt,
    cwd,
    key: earlier?.key,
    terminal,
    maxCaptureBytes,
    signal,
  })
  const parts = { id: newId("s"), ...earlier, provider: provider.name, key, cwd }
  return {
    provider: provider.name,
    exitCode: end.exitCode,
    output: end.output,
    sessionId: key,
    handle: key === undefined ? undefined : cliSessionHandle(parts),
  }
}

interface InteractiveLaunch {
  provider: Provider
  config: CliConfig
  prompt: string | undefined
  cwd: string
  key: string | undefined
  terminal: UserTerminal
  maxCaptureBytes: number
  signal: AbortSignal | undefined
}

/** Opens what the CLI needs, runs it, and closes everything in reverse order, also after errors. */
async function launchInTerminal(launching: InteractiveLaunch): Promise<{ end: PtyEnd; key: string | undefined }> {
  const { provider, config, prompt, cwd, key, terminal, maxCaptureBytes, signal } = launching
  const { env } = config.settings
  const program = requireProgram(provider, { program: config.program, env })
  if (!provider.terminalCommand) {
    throw new UnsupportedError(`${provider.title} has no face in a terminal that Karst knows. Use agent.run().`)
  }
  await using opened = new AsyncDisposableStack()
  const source = config.runtime
  const { runtime, ownsRuntime } = source ? await openRuntime(source, runtimeContext(config, { signal })) : {}
  if (runtime && ownsRuntime) opened.defer(() => runtime.close())
  // Without an approver function the CLI asks the person: there is no run whose event readers could answer.
  const { approvalTimeoutMs, hooks, limits, logger } = config
  const approve = typeof config.approver === "function" ? config.approver : "client"
  const served = await serveTools(config, runtime, {
    approver: approve,
    approvalTimeoutMs,
    hooks,
    limits,
    onEvent: eventObserver(config),
  })
  opened.defer(served.close)
  const folder = await mkdtemp(join(tmpdir(), "karst-cli-"))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const settings = { ...config.settings, program, cwd, servers: served.servers }
  for (const group of provider.unenforcedGroups(settings))
    logger?.warn(`${provider.title} cannot be kept from "${group}"`)
  const command = await provider.terminalCommand({ settings, prompt, key, folder })
  if (command.close) opened.defer(command.close)
  logger?.info(`interactive ${provider.name}`)
  const end = await runInPty({
    program,
    args: command.args,
    cwd,
    env: { ...env, ...command.env },
    folder,
    terminal,
    maxCaptureBytes,
    signal,
  })
  logger?.info(`interactive_end ${provider.name} exit=${end.exitCode}`)
  return { end, key: resumeKeyOf(end, command) }
}

function interactiveConfig(provider: Provider, options: CliOptions): CliConfig {
  // In a terminal every CLI can ask the person.
  const asking = { ...provider, can: { ...provider.can, ask: true } }
  return resolveOptions(asking, { ...options, allow: options.allow ?? toolGroups })
}

function parseResumeHandle(provider: Provider, handle: string): SessionHandleParts & { key: string } {
  const parts = parseSessionHandle(handle)
  requireSameProvider(provider, parts.id, parts.provider)
  if (parts.key === undefined) throw sessionNotFoundError(parts.id, parts.folder)
  return { ...parts, key: requireSafeKey(parts.key) ?? parts.key }
}

function resumeKeyOf({ endOfOutput }: PtyEnd, command: TerminalCommand): string | undefined {
  const plain = endOfOutput.replace(/\x1b\[[\d;?]*[A-Za-z]/g, "")
  const named = command.resumeHint && [...plain.matchAll(command.resumeHint)].at(-1)?.[1]
  return named ?? command.key
}
