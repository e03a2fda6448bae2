// Finds the project's and the user's configuration files and folders.
import { existsSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { ConfigError } from "../core/errors.ts"

/** A folder with resources, and the configuration file that belongs to it. */
export interface ConfigPlace {
  /** The folder that relative paths in the file start from. */
  folder: string
  /** The folder with `agents/`, `prompts/` and `skills/`. */
  resources: string
  /** The file; undefined if there is none. */
  file: string | undefined
  /** The file to create if there is none. */
  usualFile: string
}

export type Environment = Readonly<Record<string, string | undefined>>

const resourceFolder = ".karst"

const extensions = ["ts", "mts", "js", "mjs", "json"]

/** Finds the project: the nearest folder, from `cwd` upwards, with a configuration file or a `.karst` folder. The
 *  search ends at a folder with `.git` and at the home folder. In a folder above `cwd`, both must belong to the owner
 *  of `cwd`, because anyone can write to a folder such as /tmp. Without either, the project is `cwd`. */
export function findProject(cwd: string, user: ConfigPlace): ConfigPlace {
  const start = resolve(cwd)
  const home = dirname(user.resources)
  const isUsable = (path: string) => dirname(path) === start || ownerOf(path) === ownerOf(start)
  for (let folder = start; ; folder = dirname(folder)) {
    const file = findFile(folder, "karst.config")
    const resources = join(folder, resourceFolder)
    const hasResources = resources !== user.resources && isFolder(resources) && isUsable(resources)
    if ((file !== undefined && isUsable(file)) || hasResources) return projectIn(folder, file)
    if (folder === home || existsSync(join(folder, ".git")) || dirname(folder) === folder) return projectIn(start)
  }
}

/** The place of a file that was named explicitly. */
export function explicitPlace(file: string): ConfigPlace {
  if (!existsSync(file)) throw new ConfigError(`There is no configuration file "${file}". Check the path.`)
  return projectIn(dirname(file), file)
}

/** The user's folder: `KARST_HOME`, or `~/.karst`. */
export function findUser(env: Environment): ConfigPlace {
  const folder = resolve(env.KARST_HOME || join(env.HOME || homedir(), resourceFolder))
  return { folder, resources: folder, file: findFile(folder, "config"), usualFile: join(folder, "config.ts") }
}

/** Whether the environment says that everything is trusted. */
export function trustsAll(env: Environment): boolean {
  return /^(1|true|yes|on)$/i.test(env.KARST_TRUST_CONFIG ?? "")
}

function projectIn(folder: string, file?: string): ConfigPlace {
  return { folder, resources: join(folder, resourceFolder), file, usualFile: join(folder, "karst.config.ts") }
}

function findFile(folder: string, name: string): string | undefined {
  const found = extensions.map((extension) => join(folder, `${name}.${extension}`)).filter((file) => existsSync(file))
  const [first, second] = found
  if (second === undefined) return first
  throw new ConfigError(`There are two configuration files, "${first}" and "${second}". Keep one of them.`)
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
