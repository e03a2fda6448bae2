import { existsSync } from "node:fs"
import { mkdir, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { spawn } from "../../core/child/child-process.ts"
import { AgentError, ConfigError, UnsupportedError } from "../../core/errors.ts"
import { sandboxProblem } from "../../runtime/process/bubblewrap.ts"
import { sandboxCommand } from "../../runtime/python/kernel/sandbox-command.ts"
import { cleanFolder, invalidPathError } from "../../workspaces/workspace-path.ts"
import { type CommandStreams, type ConnectedChild, systemPath } from "./command-streams.ts"

export interface CommandLaunchOptions {
  /** What runs the commands. Default: bash where there is one, else sh. */
  shell?: string | undefined
  /** What commands see of the environment beside PATH, HOME, the language, the time zone and the like; undefined removes one. Nothing else
   *  of the host's environment reaches them. */
  env?: Record<string, string | undefined> | undefined
  /** `os`: under bubblewrap, with the workspace as the only place that can be written, or an error where that cannot be had. `auto`: so where it can
   *  be had. Default `none`: commands can do what the host's user can do. */
  sandbox?: "none" | "os" | "auto" | undefined
  /** In the sandbox: whether there is a network. Default `none`. */
  network?: "none" | "all" | undefined
  /** In the sandbox: what can be read beside the workspace and the system's programs. Default: nothing. */
  read?: readonly string[] | undefined
}

/** How commands are started. */
export interface CommandLauncher {
  readonly shell: string
  readonly sandbox: "none" | "os"
  readonly network: "none" | "all"
  /** Why there is no sandbox though one was asked for. */
  readonly warning?: string | undefined
  /** Starts a command. Throws when it cannot be started. */
  launch(task: LaunchRequest): ConnectedChild
}

export interface LaunchRequest {
  command: string
  /** The workspace's folder, and one in it. */
  root: string
  cwd: string
  /** An entry of its environment, by which its processes are known. */
  marker: string
  streams: CommandStreams
  /** The private folder of the commands' own temporary files. */
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
  const inside = sandbox !== "none" && problem === undefined
  return {
    shell,
    sandbox: inside ? "os" : "none",
    network: inside ? network : "all",
    ...(problem !== undefined && { warning: `Commands run without a sandbox: ${problem}.` }),
    launch({ command, root, cwd, marker, streams, sandboxFolder: box }) {
      // In the sandbox the folder is entered from within: its path may be another's by the time it is used.
      const entering = ["-c", 'cd -- "./$1" && exec "$0" -c "$2"', shell, cwd, command]
      const places = ["/etc/passwd", "/etc/group", "/etc/hosts", "/etc/ca-certificates", shell]
      const within = { network, read, cwd: root, folder: box, places }
      const args = inside ? sandboxCommand({ command: shell, args: entering }, within).args : ["-c", command]
      const home = inside ? { HOME: "/tmp", TMPDIR: "/tmp" } : {}
      const variables = { ...allowedEnvironment(), ...home, ...env, ...markerVariable(marker) }
      return streams.connect((stdin, stdout) =>
        spawn(inside ? findBubblewrap() : shell, args, {
          cwd: inside ? root : join(root, cwd),
          env: variables,
          // Its own group and session, so that whatever it started ends with it.
          detached: true,
          stdio: [stdin, stdout, stdout],
        }),
      )
    },
  }
}

/** The folder a command runs in: that of the workspace, which is made where it is missing, and one in it, both without links. */
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

const allowedNames = /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|TMPDIR)$/

function allowedEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => allowedNames.test(name)))
}

function markerVariable(marker: string): Record<string, string> {
  const [name = "", value = ""] = marker.split("=")
  return { [name]: value }
}

function findShell(): string {
  const folders = systemPath.split(":")
  return folders.map((folder) => `${folder}/bash`).find((path) => existsSync(path)) ?? "/bin/sh"
}

function findBubblewrap(): string {
  return ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"].find((path) => existsSync(path)) ?? "bwrap"
}
