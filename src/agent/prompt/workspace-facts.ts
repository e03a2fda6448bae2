// Looks at a workspace for the system prompt: the name of its folder, the entries at its top, the state of git.
import { mkdir, mkdtemp, readdir, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { runProgram } from "../../core/child/child-process.ts"
import { readRegularFile } from "../../core/read-regular-file.ts"
import { removeFolder } from "../../core/remove-folder.ts"
import { oneLine } from "../../core/text/tagged-text.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import { comparePaths } from "../../workspaces/workspace-path.ts"
import type { WorkspaceFacts } from "./workspace-section.ts"

/** Looks at a workspace. Returns undefined if that fails or takes too long, because a run can do without. */
export async function lookAtWorkspace(workspace: Workspace): Promise<WorkspaceFacts | undefined> {
  try {
    const { root } = workspace
    if (root === undefined) return await listTop(workspace)
    const entries = await readdir(root, { withFileTypes: true })
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    return { name: oneLine(basename(root), 80), ...firstEntries(names), git: await gitState(root) }
  } catch {
    return undefined
  }
}

const maxEntries = 40

function firstEntries(names: readonly string[]): Pick<WorkspaceFacts, "entries" | "more"> {
  const shown = names.filter((name) => name !== ".git/" && name !== ".git").toSorted(comparePaths)
  const entries = shown.slice(0, maxEntries).map((name) => oneLine(name, 80))
  return { entries, more: shown.length - entries.length }
}

// A workspace without a local folder lists all files below a folder, so only its first files are read.
async function listTop(workspace: Workspace): Promise<WorkspaceFacts> {
  const names = new Set<string>()
  let seen = 0
  for await (const { path } of workspace.list("", { signal: AbortSignal.timeout(maxListMs) })) {
    const [name = "", ...rest] = path.split("/")
    names.add(rest.length > 0 ? `${name}/` : name)
    if (++seen === maxListed) return { ...firstEntries([...names]), more: undefined }
  }
  return firstEntries([...names])
}

const maxListed = 1000
const maxListMs = 3000

async function gitState(root: string): Promise<WorkspaceFacts["git"]> {
  const folder = await gitFolder(root)
  const head = folder === undefined ? "" : await readShortFile(join(folder, "HEAD"))
  const [, branch, commit] = /^(?:ref: refs\/heads\/(.+)|([0-9a-f]{40,64}))\s*$/.exec(head) ?? []
  if (folder === undefined || (branch === undefined && commit === undefined)) return undefined
  const changed = await countChangedFiles(root, join(folder, "index")).catch(() => undefined)
  const name = branch === undefined ? `none, at ${commit?.slice(0, 8)}` : oneLine(branch, 100)
  return { branch: name, ...(changed !== undefined && { changed }) }
}

// In a worktree, `.git` is a file with the path of the folder.
async function gitFolder(root: string): Promise<string | undefined> {
  const path = join(root, ".git")
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return path
  const target = /^gitdir: (.+)\s*$/.exec(await readShortFile(path))?.[1]
  return target === undefined ? undefined : resolve(root, target.trim())
}

/** Returns the text of a file, or nothing if there is none. The model may have written a pipe, whose reading never ends. */
async function readShortFile(path: string): Promise<string> {
  const found = await readRegularFile(path, maxShortBytes)
  return "bytes" in found ? found.bytes.toString("utf8") : ""
}

const maxShortBytes = 10_000

// Settings of a repository can name programs that git starts (filters, fsmonitor), and the model may have written them.
// Therefore git gets an empty repository with the index of this one, so that it reads no settings from the workspace.
async function countChangedFiles(root: string, index: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "karst-git-"))
  try {
    await Promise.all([mkdir(join(folder, "objects")), mkdir(join(folder, "refs"))])
    await writeFile(join(folder, "HEAD"), "ref: refs/heads/none\n")
    const env = {
      PATH: process.env.PATH,
      GIT_DIR: folder,
      GIT_WORK_TREE: root,
      GIT_INDEX_FILE: index,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: join(folder, "none"),
      GIT_OPTIONAL_LOCKS: "0",
    }
    const list = ["ls-files", "-z", "--modified", "--others", "--exclude-standard", "--directory"]
    const { stdout } = await runProgram("git", ["-C", root, ...list], { env, timeoutMs: maxListMs })
    return new Set(stdout.split("\0").filter(Boolean)).size
  } finally {
    await removeFolder(folder)
  }
}
