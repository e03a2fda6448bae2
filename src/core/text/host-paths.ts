// Replaces absolute paths of the host in texts for the model: they cost tokens, say nothing about the task, and name
// folders that the model cannot use.
import { existsSync } from "node:fs"
import { basename, isAbsolute, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { attempt } from "../attempt.ts"

export interface HostPathOptions {
  /** A path below one of these folders is shown relative to it; any other path by its last part. */
  folders?: readonly string[] | undefined
  /** Paths that occur in this text, such as the code of a cell, stay. */
  except?: string | undefined
}

/** Returns the text without absolute paths of this machine. A text such as `/v1/orders` is no path of the machine,
 *  because there is no folder `/v1`. */
export function hideHostPaths(text: string, { folders = [process.cwd()], except = "" }: HostPathOptions = {}): string {
  if (!/[/\\]/.test(text)) return text
  return text.replace(absolutePath, (found: string) => {
    const written = withoutEndPunctuation(found)
    if (except.includes(written)) return found
    const path = written.startsWith("file:") ? attempt(() => fileURLToPath(written)) : written
    if (path === undefined || !isOnThisMachine(path)) return found
    return shortPath(path, folders) + found.slice(written.length)
  })
}

function withoutEndPunctuation(text: string): string {
  let end = text.length
  while (end > 0 && ".,;:".includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

// In quotes a path may contain spaces. Outside of them, what precedes it must not be part of a word or an address.
const absolutePath =
  /(?<=(['"`]))(?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^'"`\n]*(?=\1)|(?<![\w.~/:\\@-])(?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^\s'"`<>|()[\]{},;]+/g

function shortPath(path: string, folders: readonly string[]): string {
  for (const folder of folders) {
    const inside = relative(folder, path)
    if (inside === "") return basename(folder)
    if (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return inside
  }
  return basename(path)
}

function isOnThisMachine(path: string): boolean {
  if (/^[A-Za-z]:[\\/]/.test(path)) return true
  const [, first = "", second] = path.split("/")
  // A single part such as `/` or `/search` tells nothing about the host.
  if (first === "" || second === undefined) return false
  const known = knownFolders.get(first) ?? existsSync(`/${first}`)
  if (knownFolders.size < 1000) knownFolders.set(first, known)
  return known
}

const knownFolders = new Map<string, boolean>()
