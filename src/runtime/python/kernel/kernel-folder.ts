// Creates and removes the private temporary folder of a kernel.
import { rmSync } from "node:fs"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runProgram } from "../../../core/child/child-process.ts"

/** The folder holds the sockets, the working folder and temporary files. Only this user can read it. */
export async function createKernelFolder(): Promise<string> {
  // The path of a Unix socket has at most about a hundred characters.
  const parent = tmpdir().length > 60 ? "/tmp" : tmpdir()
  const folder = await mkdtemp(join(parent, "karst-"))
  for (const part of ["work", "tmp", "shm"]) await mkdir(join(folder, part))
  return folder
}

/** Removes a folder, also if cells changed its permissions. Never rejects: a failure must not stop the next kernel's start. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // Some folders are not readable, or nested deeper than the maximum length of a path.
    const thoroughly = ["-c", 'chmod -R u+rwX "$1"; rm -rf "$1"', "sh", folder]
    await runProgram("/bin/sh", thoroughly).catch(() => undefined)
  }
}

/** Removes a folder synchronously, while the program exits. */
export function removeFolderSync(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // The folder stays among the temporary files; only this user can read it.
  }
}
