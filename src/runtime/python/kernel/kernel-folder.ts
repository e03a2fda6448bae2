import { rmSync } from "node:fs"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runProgram } from "../../../core/child/child-process.ts"

/** Where a kernel and its host meet: a folder that nobody else can read. */
export async function createKernelFolder(): Promise<string> {
  // The path of a socket has room for about a hundred characters.
  const parent = tmpdir().length > 60 ? "/tmp" : tmpdir()
  const folder = await mkdtemp(join(parent, "karst-"))
  for (const part of ["work", "tmp", "shm"]) await mkdir(join(folder, part))
  return folder
}

/** Removes it, whatever cells have made of it. Never rejects: what cannot be removed must not keep a kernel from starting. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // Folders that may not be read, or that are nested deeper than a path is long.
    const thoroughly = ["-c", 'chmod -R u+rwX "$1"; rm -rf "$1"', "sh", folder]
    await runProgram("/bin/sh", thoroughly).catch(() => undefined)
  }
}

/** The same while the program ends, when nothing can be waited for. */
export function removeFolderSync(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // It is in the folder of temporary files, and nobody else can read it.
  }
}
