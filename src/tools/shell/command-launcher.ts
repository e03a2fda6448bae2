// Starts shell commands, directly or in a bubblewrap sandbox.
import { existsSync } from "node:fs"
import { mkdir, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { sandboxProblem } from "../../core/child/bubblewrap.ts"
import { spawn } from "../../core/child/child-process.ts"
import { markerVariable } from "../../core/child/end-processes.ts"
import { systemSandboxCommand } from "../../core/child/system-sandbox.ts"
import { systemPath } from "../../core/child/watchdog.ts"
import { AgentError, ConfigError, UnsupportedError } from "../../core/errors.ts"
import { cleanFolder, invalidPathError } from "../../workspaces/workspace-path.ts"
import type { CommandStreams, ConnectedCommand } from "./command-streams.ts"

export interface CommandLaunchOptions {
  /** The program that runs commands. Default: bash if installed, otherwise sh. */
  shell?: string | undefined
  /** Environment variables for commands, in addition to PATH, HOME, the language, the time zone and a few more;
   *  undefined removes one. Nothing else of the host's environment is passed. */
  env?: Record<string, string | undefined> | undefined
  /** `os`: in a bubblewrap sandbox where only the workspace can be written; an error if that is not possible.
   *  `auto`: in a sandbox if possible. Default `none`: commands can do whatever the host's user can do. */
  sandbox?: "none" | "os" | "auto" | undefined
  /** In the sandbox: network access. Default `none`. */
  network?: "none" | "all" | undefined
  /** In the sandbox: readable paths besides the workspace and the system's programs. Default: none. */
  read?: readonly string[] | undefined
}

/** Starts commands with fixed settings. */
export interface CommandLauncher {
  readonly shell: string
  readonly sandbox: "none" | "os"
  readonly network: "none" | "all"
  /** Why there is no sandbox although `auto` was requested. */
  readonly warning?: string | undefined
  /** Starts a command. Throws if it cannot be started. */
  launch(task: LaunchRequest): ConnectedCommand
}

export interface LaunchRequest {
  command: string
  /** The workspace's folder, and the working directory inside it. */
  root: string
  cwd: string
  /** An environment entry that identifies the command's processes. */
  marker: string
  streams: CommandStreams
  /** The private folder for temporary files in the sandbox. */
  sandboxFolder: string
}

export function createCommandLauncher({
  shell = findShell(),
  env = {},
  sandbox = "none",
  network = "none",
  read,
}: CommandLaunchOptions): CommandLauncher {
  if (process.platform === "win32") throw new UnsupportedError("shell: needs a POSIX system, and this is Windows.")
  if (!existsSync(shell)) throw new ConfigError(`shell: there is no "${shell}". Install it, or name another shell.`)
  const problem = sandbox === "none" ? undefined : sandboxProblem()
  if (problem !== undefined && sandbox === "os") {
    throw new UnsupportedError(`shell: sandbox "os" cannot be had: ${problem}.`)
  }
  const isSandboxed = sandbox !== "none" && problem === undefined
  return {
    shell,
    sandbox: isSandboxed ? "os" : "none",
    network: isSandboxed ? network : "all",
    ...(problem !== undefined && { warning: `Commands run without a sandbox: ${problem}.` }),
    launch({ command, root, cwd, marker, streams, sandboxFolder: box }) {
      // In the sandbox the working directory is entered from inside, because its path could be replaced by a link
      // in the meantime.
      const enterFolder = ["-c", 'cd -- "./$1" && exec "$0" -c "$2"', shell, cwd, command]
      const programPaths = ["/etc/passwd", "/etc/group", "/etc/hosts", "/etc/ca-certificates", shell]
      const sandboxOptions = { network, read, protect: karstFiles(root), cwd: root, folder: box, programPaths }
      const [program = shell, ...args] = isSandboxed
        ? systemSandboxCommand([shell, ...enterFolder], sandboxOptions)
        : [shell, "-c", command]
      const home = isSandboxed ? { HOME: "/tmp", TMPDIR: "/tmp" } : {}
      const variables = { ...allowedEnvironment(), ...home, ...env, ...markerVariable(marker) }
      return streams.connect((stdin, stdout) =>
        spawn(program, args, {
          cwd: isSandboxed ? root : join(root, cwd),
          env: variables,
          // A separate process group and session, so that everything it starts can be ended with it.
          detached: true,
          stdio: [stdin, stdout, stdout],
        }),
      )
    },
  }
}

/** Returns the real paths of the workspace's folder, which is created if missing, and of the working directory
 *  inside it. */
export async function prepareCommandFolder(root: string, cwd: string): Promise<{ root: string; cwd: string }> {
  const folder = cleanFolder(cwd)
  await mkdir(root, { recursive: true })
  const top = await realpath(root)
  const path = await realpath(join(top, folder)).catch(() => {
    throw new AgentError(`There is no folder "${folder}" in the workspace to run in.`, { code: "not-found" })
  })
  if (path !== top && !path.startsWith(`${top}/`)) throw invalidPathError(cwd, "leads out of the workspace")
  if (!(await stat(path)).isDirectory()) throw new AgentError(`"${folder}" is not a folder.`, { code: "not-found" })
  return { root: top, cwd: path.slice(top.length + 1) }
}

/** The configuration of Karst in a folder, which commands in the sandbox can read and not change. */
function karstFiles(root: string): string[] {
  const extensions = ["ts", "mts", "cts", "js", "mjs", "cjs", "json"]
  return [".karst", ...extensions.map((extension) => `karst.config.${extension}`)].map((name) => join(root, name))
}

const allowedNames = /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|TMPDIR)$/

function allowedEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => allowedNames.test(name)))
}

function findShell(): string {
  const folders = systemPath.split(":")
  return folders.map((folder) => `${folder}/bash`).find((path) => existsSync(path)) ?? "/bin/sh"
}
