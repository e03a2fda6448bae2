// Lists and reads the files of a skill's folder.
import type { Dirent } from "node:fs"
import { readdir, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { isWithin } from "../core/path-within.ts"
import { readWithin } from "./read-within.ts"

export interface SkillFile {
  /** Relative to the skill's folder, with forward slashes: `references/forms.md`. */
  path: string
  sizeBytes: number
}

/** Returns the files of a skill's folder sorted by path, without its instructions and hidden files. */
export async function listSkillFiles(folder: string): Promise<SkillFile[]> {
  const found: SkillFile[] = []
  await collectFiles(folder, "", folder, found)
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Returns the bytes of a file. Throws with the problem if it cannot be read. */
export async function readSkillFile(folder: string, path: string): Promise<Uint8Array> {
  const read = await readWithin(folder, join(folder, path), maxBytes)
  if ("bytes" in read) return read.bytes
  throw new Error(`"${path}" ${read.problem}`)
}

const maxBytes = 16 * 1024 * 1024
const maxFiles = 1_000
const maxDepth = 8

async function collectFiles(folder: string, prefix: string, root: string, found: SkillFile[]): Promise<void> {
  if (prefix.split("/").length > maxDepth) return
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (found.length >= maxFiles) return
    if (isHidden(entry.name, prefix)) continue
    const path = `${prefix}${entry.name}`
    if (entry.isDirectory()) await collectFiles(join(folder, entry.name), `${path}/`, root, found)
    else if (entry.isFile() || entry.isSymbolicLink()) await addFile(path, root, found)
  }
}

function isHidden(name: string, prefix: string): boolean {
  if (name.startsWith(".") || name === "node_modules" || name === "__pycache__") return true
  return prefix === "" && /^(skill\.md|injection\.(ts|js|mjs|d\.m?ts|py))$/i.test(name)
}

async function addFile(path: string, root: string, found: SkillFile[]): Promise<void> {
  const real = await realpath(join(root, path)).catch(() => undefined)
  if (real === undefined || !isWithin(root, real)) return
  const { size, isFile } = await stat(real).then((facts) => ({ size: facts.size, isFile: facts.isFile() }))
  if (isFile) found.push({ path, sizeBytes: size })
}
