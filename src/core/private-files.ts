// Creates files that may contain secrets (conversations, values, recordings) so that only their owner can read them.
// The mode is set at creation: a umask only removes bits, and there is no moment in which others could open the file.
// Existing files and folders keep their mode.
import { appendFileSync, closeSync, fstatSync, ftruncateSync, mkdirSync, openSync } from "node:fs"
import { mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { isFullDisk, namedIfFull } from "./full-disk.ts"
import { newId } from "./message.ts"

export const privateFileMode = 0o600
export const privateFolderMode = 0o700

/** Creates a folder, and missing folders above it, for the owner alone. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: privateFolderMode })
  } catch (error) {
    throw namedIfFull(error, path)
  }
}

function makePrivateFolderSync(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: privateFolderMode })
  } catch (error) {
    throw namedIfFull(error, path)
  }
}

/** Creates an empty file if it does not exist. An existing file is not opened, because closing it would release the
 *  locks that this process has on it. */
export function createPrivateFileSync(path: string): void {
  makePrivateFolderSync(dirname(path))
  try {
    closeSync(openSync(path, "wx", privateFileMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw namedIfFull(error, path)
  }
}

/** Appends to a file, all or nothing. Creates the file and its folders if missing. */
export function appendPrivateFileSync(path: string, text: string): void {
  makePrivateFolderSync(dirname(path))
  const file = openSync(path, "a", privateFileMode)
  try {
    const before = fstatSync(file).size
    try {
      appendFileSync(file, text)
    } catch (error) {
      // A disk that becomes full takes a part of the text.
      ftruncateSync(file, before)
      throw namedIfFull(error, path)
    }
  } finally {
    closeSync(file)
  }
}

/** Writes a new file, completely or not at all. Returns false, and writes nothing, if there is already a file of that
 *  name. */
export async function writeNewPrivateFile(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: "wx", mode: privateFileMode })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    if (isFullDisk(error)) await rm(path, { force: true })
    throw namedIfFull(error, path)
  }
}

/** Writes a file completely or not at all. An existing file is replaced and its mode is preserved. */
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
    throw namedIfFull(error, path)
  }
}
