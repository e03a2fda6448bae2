import { appendFileSync, closeSync, mkdirSync, openSync } from "node:fs"
import { mkdir, open, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { newId } from "./message.ts"

// Conversations, values and recordings may hold secrets, so the files that hold them are created for their owner alone. The mode is given when
// the file is created: a umask can only take bits away, and no moment passes in which others could open it. Files and folders that exist
// keep their mode.

export const privateFileMode = 0o600
export const privateFolderMode = 0o700

/** Makes a folder and those above it that are missing, for the owner alone. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: privateFolderMode })
}

export function makePrivateFolderSync(path: string): void {
  mkdirSync(path, { recursive: true, mode: privateFolderMode })
}

/** Creates an empty file, where there is none. One that exists is not opened: closing it would release the locks that this process holds
 *  on it. */
export function createPrivateFileSync(path: string): void {
  makePrivateFolderSync(dirname(path))
  try {
    closeSync(openSync(path, "wx", privateFileMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

/** Adds to a file, which is created with its folders where it is missing. */
export function appendPrivateFileSync(path: string, text: string): void {
  makePrivateFolderSync(dirname(path))
  appendFileSync(path, text, { mode: privateFileMode })
}

/** Writes a file whole or not at all. One that is there is replaced, and its mode is kept. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${newId("t")}`
  await makePrivateFolder(dirname(path))
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => privateFileMode,
  )
  try {
    {
      await using file = await open(temporary, "wx", mode)
      await file.writeFile(text)
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
