// Finds the skills in a file or a folder.
import type { Dirent } from "node:fs"
import { readdir, realpath, stat } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { isWithin } from "../core/path-within.ts"
import type { Finding } from "./skill-properties.ts"

export type ReportProblem = (path: string, severity: Finding["severity"], message: string) => void

/** A folder with a SKILL.md, and the root that links must stay inside; both with links resolved. */
export interface FoundSkill {
  folder: string
  root: string
  /** The file name as written on disk. */
  file: string
}

/** Returns the skills in a file or in a folder and its subfolders, in the order of their paths. Links that stay inside
 *  are followed; every path that cannot be read is reported. */
export async function discoverSkills(path: string, report: ReportProblem): Promise<FoundSkill[]> {
  const absolutePath = resolve(path)
  const real = await realpath(absolutePath).catch(() => undefined)
  const found = real === undefined ? undefined : await stat(real)
  if (real === undefined || found === undefined) {
    report(absolutePath, "error", "is not there")
    return []
  }
  if (found.isFile()) {
    if (!skillFiles.includes(basename(real))) {
      report(
        absolutePath,
        "error",
        "is not a SKILL.md: name a SKILL.md, a folder that has one, or a folder of such folders",
      )
      return []
    }
    return [{ folder: dirname(real), root: dirname(real), file: basename(real) }]
  }
  if (!found.isDirectory()) {
    report(absolutePath, "error", "is neither a file nor a folder")
    return []
  }
  const walk: Walk = { root: real, seen: new Set(), found: [], report, full: false }
  await visitFolder(real, 0, walk)
  if (walk.found.length === 0 && !walk.full) report(absolutePath, "warning", "has no skills in it")
  return walk.found
}

interface Walk {
  root: string
  seen: Set<string>
  found: FoundSkill[]
  report: ReportProblem
  full: boolean
}

const skillFiles = ["SKILL.md", "skill.md"]
const maxDepth = 6
const maxFolders = 5_000

async function visitFolder(folder: string, depth: number, walk: Walk): Promise<void> {
  if (walk.seen.has(folder) || walk.full) return
  walk.seen.add(folder)
  if (walk.seen.size > maxFolders) {
    walk.full = true
    return walk.report(walk.root, "error", `has more than ${maxFolders} folders: name the folders of the skills`)
  }
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => error)
  if (!Array.isArray(entries)) return walk.report(folder, "error", `cannot be read (${entries.code})`)
  const file = skillFiles.find((name) => entries.some((entry) => entry.name === name))
  if (file !== undefined) {
    walk.found.push({ folder, root: walk.root, file })
    return
  }
  const names = entries.filter(mayContainSkills).map(({ name }) => name)
  for (const name of names.sort()) {
    const next = await resolveLink(join(folder, name), folder, walk)
    if (next === undefined) continue
    if (depth === maxDepth)
      walk.report(next, "warning", `is more than ${maxDepth} folders down, and was not looked into`)
    else await visitFolder(next, depth + 1, walk)
  }
}

function mayContainSkills(entry: Dirent): boolean {
  if (entry.name.startsWith(".") || entry.name === "node_modules") return false
  return entry.isDirectory() || entry.isSymbolicLink()
}

/** Resolves a folder or link; undefined if it must not be entered. */
async function resolveLink(path: string, from: string, { root, report }: Walk): Promise<string | undefined> {
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => error)
  if (typeof real !== "string") {
    const why = real.code === "ELOOP" ? "is a link that leads to itself" : "is a link to what is not there"
    report(path, "warning", `${why}, and was left out`)
    return undefined
  }
  if (real === path) return real
  if (!isWithin(root, real)) {
    report(path, "warning", `is a link that leads outside (${real}), and is not followed: name that folder as well`)
    return undefined
  }
  if (isWithin(real, from)) {
    report(path, "warning", "is a link to a folder it is in, and is not followed")
    return undefined
  }
  return (await stat(real)).isDirectory() ? real : undefined
}
