// Resolves paths in a local folder without ever leaving it, even if links are replaced at the same time.
import type { BigIntStats } from "node:fs"
import { constants, existsSync } from "node:fs"
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises"
import { join } from "node:path"
import { type AgentError, ConfigError } from "../core/errors.ts"
import { privateFolderMode } from "../core/private-files.ts"
import { errnoOf, toLocalError, undefinedOn } from "./local-errors.ts"
import { pathTakenError, workspaceError } from "./workspace-errors.ts"
import { pathNames } from "./workspace-path.ts"

/** A folder that is held open. Its files are accessed through the open descriptor, so no one can put another folder
 *  in its place. */
export interface OpenFolder {
  /** The path of a file in it, for system calls. */
  at(name: string): string
  /** Its name in the parent folder. */
  name: string
  close(): Promise<void>
}

/** A resolved path, after following links. */
export interface OpenPath extends AsyncDisposable {
  /** From the root to the folder that contains the file. */
  folders: readonly OpenFolder[]
  folder: OpenFolder
  name: string
  /** Undefined if nothing is there. */
  stats: BigIntStats | undefined
}

export interface OpenPathOptions {
  /** Creates missing folders. Throws the original ENOENT if one was removed in the meantime, so that the caller can
   *  start again. */
  create?: boolean
  /** Does not follow a link that is the last name of the path. */
  keepLink?: boolean
}

/** Resolves a path, opening one folder after another. Follows links that stay inside the root; a link that leads out
 *  is an error. Returns undefined if a folder is missing and `create` is not set. */
export async function openPath(
  root: string,
  path: string,
  options: OpenPathOptions = {},
): Promise<OpenPath | undefined> {
  const first = await openRoot(root, path, options)
  if (!first) return undefined
  const folders = [first]
  const close = async () => void (await Promise.all(folders.splice(0).map((folder) => folder.close())))
  try {
    const names = path.split("/")
    for (let links = 0; ; ) {
      const folder = folders.at(-1) ?? first
      const name = names.shift() ?? "."
      if (name === "..") {
        if (folders.length === 1) throw outsideError(path)
        await folders.pop()?.close()
        continue
      }
      const isPrivate = name === privateFolder || isInPrivateFolder(folders)
      const found =
        names.length > 0
          ? await enterFolder(folder, name, path, { ...options, isPrivate })
          : await lookUp(folder, name, path, options)
      if (found === undefined && names.length > 0) break
      if (found !== "link" && !(found && "at" in found)) {
        return { folders, folder, name, stats: found, [Symbol.asyncDispose]: close }
      }
      if (found !== "link") folders.push(found)
      else if (++links > maxLinks) throw workspaceError("not-found", path, `"${path}" is a link in a circle of links.`)
      else names.unshift(...(await followLink(root, folders, folder.at(name), path)))
    }
  } catch (error) {
    await close()
    throw error
  }
  await close()
  return undefined
}

/** Returns true if the folders lead into `.karst`, where Karst stores results and command output for the owner
 *  alone. */
export function isInPrivateFolder(folders: readonly OpenFolder[]): boolean {
  return folders.some(({ name }) => name === privateFolder)
}

/** Opens a folder, but not a link. */
export async function openFolder(path: string, name: string): Promise<OpenFolder> {
  return toOpenFolder(await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW), path, name)
}

async function openRoot(root: string, path: string, { create }: OpenPathOptions): Promise<OpenFolder | undefined> {
  if (create) await undefinedOn("EEXIST", path, mkdir(root, { recursive: true }))
  try {
    // The root may be a link, because the creator of the workspace chose it.
    return toOpenFolder(await open(root, constants.O_RDONLY | constants.O_DIRECTORY), root, "")
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined
    if (errnoOf(error) !== "ENOTDIR") throw toLocalError(error, root)
    throw new ConfigError(`"${root}" is a file. Make the localWorkspace() of a folder.`, { cause: error })
  }
}

function toOpenFolder(handle: FileHandle, path: string, name: string): OpenFolder {
  const base = hasDescriptors ? `/proc/self/fd/${handle.fd}` : path
  return { at: (name) => (name === "." ? `${base}/.` : join(base, name)), name, close: () => handle.close() }
}

async function lookUp(folder: OpenFolder, name: string, path: string, { keepLink }: OpenPathOptions) {
  const stats = await undefinedOn("ENOENT", path, lstat(folder.at(name), { bigint: true }))
  return stats?.isSymbolicLink() && !keepLink ? "link" : stats
}

async function enterFolder(
  folder: OpenFolder,
  name: string,
  path: string,
  { create, isPrivate }: OpenPathOptions & { isPrivate: boolean },
): Promise<OpenFolder | "link" | undefined> {
  // Repeated, because an empty folder may be removed right after it was created.
  for (let attempt = 0; ; attempt++) {
    try {
      return await openFolder(folder.at(name), name)
    } catch (error) {
      if (errnoOf(error) === "ENOENT") {
        if (!create) return undefined
        if (attempt > 10) throw error
        await mkdir(folder.at(name), isPrivate ? privateFolderMode : 0o777).catch(ignoreExisting)
        continue
      }
      const stats = await undefinedOn("ENOENT", path, lstat(folder.at(name)))
      if (stats?.isSymbolicLink()) return "link"
      if (stats?.isDirectory()) throw toLocalError(error, path)
      if (stats && create) throw pathTakenError(path, name)
      return undefined
    }
  }
}

function ignoreExisting(error: unknown): void {
  if (errnoOf(error) !== "EEXIST") throw error
}

/** The path names that a link stands for. */
async function followLink(root: string, folders: OpenFolder[], link: string, path: string): Promise<string[]> {
  const target = await undefinedOn("ENOENT", path, readlink(link))
  if (target === undefined) throw workspaceError("not-found", path, `"${path}" was removed meanwhile.`)
  if (!target.startsWith("/")) return pathNames(target)
  const top = await realpath(root)
  if (target !== top && !target.startsWith(`${top}/`)) throw outsideError(path)
  for (const folder of folders.splice(1)) await folder.close()
  return pathNames(target.slice(top.length))
}

function outsideError(path: string): AgentError {
  const cure = "Work on a file inside, or make a workspace of the folder it leads to."
  return workspaceError("outside-workspace", path, `"${path}" is a link that leads out of the workspace. ${cure}`)
}

// Without /proc/self/fd each step is checked by its path. A replacement during a system call is then not detected.
const hasDescriptors = existsSync("/proc/self/fd")
const maxLinks = 40
const privateFolder = ".karst"
