// Starts, finds and ends the commands of one run or conversation.

import { randomBytes } from "node:crypto"
import { mkdir, mkdtemp, realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkOptions } from "../../core/checks/check-options.ts"
import { createProcessEnder } from "../../core/child/end-processes.ts"
import { startWatchdog, type Watchdog } from "../../core/child/watchdog.ts"
import { AgentError } from "../../core/errors.ts"
import { removeFolder } from "../../core/remove-folder.ts"
import { resultWithin } from "../../core/time-limit.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import type { CommandLauncher, CommandLaunchOptions } from "./command-launcher.ts"
import { createCommandLauncher, prepareCommandFolder } from "./command-launcher.ts"
import { createCommandOutput } from "./command-output.ts"
import { createCommandStreams, notStartedError } from "./command-streams.ts"
import { type Command, followCommand } from "./running-command.ts"
import { commandsChecks } from "./shell-option-checks.ts"

/** The commands of one run or conversation. The creator must close it. */
export interface Commands extends AsyncDisposable, Omit<CommandLauncher, "launch"> {
  /** Starts a command. Rejects with an `AgentError` if that is not possible, and with the signal's reason if it has
   *  fired. A signal that fires later ends the command. */
  start(request: CommandRequest): Promise<Command>
  /** Returns a command by its id. */
  find(id: string): Command | undefined
  /** The ids of running commands. */
  running(): string[]
  /** Ends all commands ever started, and removes their stored output. Nothing can be started afterwards. Can be
   *  called twice. */
  close(): Promise<void>
}

export interface CommandRequest {
  command: string
  workspace: Workspace
  signal: AbortSignal
  /** The working directory in the workspace. Default: its root. */
  cwd?: string | undefined
  /** The command's standard input. Default: none. */
  stdin?: string | undefined
  /** The number of the conversation's last command; ids continue after it. Default 0. */
  lastNumber?: number | undefined
  /** Called with the output as it arrives. */
  onOutput?: ((chunk: Uint8Array) => void) | undefined
}

export interface CommandsOptions extends CommandLaunchOptions {
  /** How many bytes of a command's output are stored. Default 50 MB. */
  maxOutputBytes?: number | undefined
  /** How many bytes of output are shown at once. Default 4,000. */
  maxPreviewBytes?: number | undefined
  /** How many commands may run concurrently. Default 100. */
  maxRunning?: number | undefined
  /** How long a command has to end after SIGTERM. Default 2 s. */
  graceMs?: number | undefined
}

/** Starts and ends the commands of `shellTool`; `close` ends all of them. */
export function commands(options: CommandsOptions = {}): Commands {
  checkOptions("commands()", options, commandsChecks)
  const { maxOutputBytes = 50_000_000, maxPreviewBytes = 4000, maxRunning = 100, graceMs = 2000 } = options
  const { launch, ...confinement } = createCommandLauncher(options)
  const token = randomBytes(12).toString("hex")
  const marker = `KARST_COMMAND=${token}.`
  const endProcesses = createProcessEnder(graceMs)
  const all = new Map<string, Command>()
  let starting = 0
  let count = 0
  let place: Promise<CommandsFolder> | undefined
  let closing: Promise<void> | undefined

  const running = () => [...all.values()].filter(({ end }) => end === undefined).map(({ id }) => id)
  const groups = () => [...all.values()].flatMap(({ group }) => group ?? [])

  async function start(request: CommandRequest): Promise<Command> {
    const { workspace, signal } = request
    if (workspace.root === undefined) throw noFolderError()
    const folders = await prepareCommandFolder(workspace.root, request.cwd ?? "")
    if (closing) throw closedError()
    place ??= createCommandsFolder(marker).catch((error) => {
      place = undefined
      throw notStartedError(error)
    })
    const { folder, watchdog } = await place
    count = Math.max(count, request.lastNumber ?? 0) + 1
    const id = `c${count}`
    const path = join(folder, id)
    const streams = await createCommandStreams(path, request.stdin)
    try {
      signal.throwIfAborted()
      if (closing) throw closedError()
      const own = `${marker}${id}.`
      const box = join(folder, "box")
      const connected = launch({ command: request.command, ...folders, marker: own, streams, sandboxFolder: box })
      const command: Command = followCommand(connected, {
        id,
        output: createCommandOutput({
          file: `${path}.log`,
          workspace,
          path: `.karst/commands/${id}-${token.slice(0, 6)}.log`,
          maxBytes: maxOutputBytes,
          maxPreviewBytes,
          onChunk: request.onOutput,
        }),
        endAll: () => endProcesses(() => ({ marker: own, groups: command.group ? [command.group] : [] })),
        changed: () => watchdog.watch(groups().map((group) => group.id)),
      })
      // From here on `close` and aborts find the command.
      all.set(id, command)
      await command.started.catch((error) => {
        all.delete(id)
        throw error
      })
      watchdog.watch(groups().map((group) => group.id))
      stopOnAbort(command, signal)
      return command
    } finally {
      await streams.remove()
    }
  }

  async function end(): Promise<void> {
    const ending = endProcesses(() => ({ marker, groups: groups() }))
    await Promise.all([...all.values()].map((command) => command.stop("closed", ending)))
    await ending
    // Does not wait for a command that cannot be killed.
    await resultWithin(Promise.all([...all.values()].map((command) => command.ended)), 1000)
    const { folder, watchdog } = (await place?.catch(() => undefined)) ?? {}
    watchdog?.end()
    if (folder !== undefined) await removeFolder(folder)
  }

  const close = () => (closing ??= end())
  return {
    ...confinement,
    async start(request) {
      request.signal.throwIfAborted()
      if (closing) throw closedError()
      const problem = commandProblem(request.command)
      if (problem) throw problem
      if (running().length + starting >= maxRunning) throw tooManyError(maxRunning, running())
      starting++
      try {
        return await start(request)
      } finally {
        starting--
      }
    },
    find: (id) => all.get(id),
    running,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A private folder for output, and the watchdog that ends commands if this process dies. */
interface CommandsFolder {
  folder: string
  watchdog: Watchdog
}

async function createCommandsFolder(marker: string): Promise<CommandsFolder> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "karst-shell-")))
  // These are /tmp and /dev/shm of commands in the sandbox.
  for (const name of ["tmp", "shm"]) await mkdir(join(folder, "box", name), { recursive: true })
  return { folder, watchdog: startWatchdog(marker, folder) }
}

function stopOnAbort(command: Command, signal: AbortSignal): void {
  const abort = () => void command.stop("aborted")
  if (signal.aborted) abort()
  signal.addEventListener("abort", abort)
  void command.ended.then(() => signal.removeEventListener("abort", abort))
}

function commandProblem(command: string): AgentError | undefined {
  if (command.trim() === "") return new AgentError("The command is empty.", { code: "empty-command" })
  if (command.includes("\0")) return new AgentError("The command has a NUL character.", { code: "invalid-command" })
  const bytes = Buffer.byteLength(command)
  if (bytes <= maxCommandBytes) return undefined
  const message = `The command has ${bytes} bytes, and may have ${maxCommandBytes}. Write it to a file and run that.`
  return new AgentError(message, { code: "command-too-long" })
}

// Linux accepts 128 kB per argument.
const maxCommandBytes = 100_000

function tooManyError(most: number, running: readonly string[]): AgentError {
  const cure = `Wait for one with check_command, or kill one: ${running.join(", ")}.`
  return new AgentError(`${most} commands are running already. ${cure}`, { code: "too-many-commands" })
}

function noFolderError(): AgentError {
  const cure = "Use the file tools, or an agent with a localWorkspace."
  return new AgentError(`This workspace is not a folder that commands can run in. ${cure}`, { code: "no-folder" })
}

function closedError(): AgentError {
  return new AgentError("The run is over: no command can be started any more.", { code: "closed" })
}
