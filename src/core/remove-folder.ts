// Removes folders that programs may have filled with unreadable or deeply nested files.
import { rmSync } from "node:fs"
import { rm } from "node:fs/promises"
import { runProgram } from "./child/child-process.ts"

/** Removes a folder, also if cells changed its permissions. Never rejects: a failure must not stop the caller. */
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
