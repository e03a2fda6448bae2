// Atomic writes: a draft is written beside the file and then put in its place.
import { randomBytes } from "node:crypto"
import { type BigIntStats, constants, linkSync, lstatSync, renameSync, unlinkSync } from "node:fs"
import { type FileHandle, open, rmdir, unlink } from "node:fs/promises"
import { privateFileMode } from "../core/private-files.ts"
import { errnoOf, toLocalError, undefinedOn } from "./local-errors.ts"
import { isInPrivateFolder, type OpenFolder, type OpenPath, openPath } from "./local-folder.ts"
import { checkIfMatch, conflictError, notFoundError, pathTakenError } from "./workspace-errors.ts"

/** A file that is not visible yet, written beside the one it will replace. If disposed of before `publish`, it is
 *  removed. */
export interface FileDraft extends AsyncDisposable {
  /** The version that was there when the draft was created; null if there was none. */
  readonly before: string | null
  write(chunk: Uint8Array): Promise<void>
  /** Puts the draft in place in one step, if `ifMatch` is the current version. */
  publish(ifMatch: string | null | undefined): Promise<BigIntStats>
}

export async function createDraft(root: string, path: string): Promise<FileDraft> {
  for (let attempt = 0; ; attempt++) {
    let openedPath: OpenPath | undefined
    try {
      openedPath = await openPath(root, path, { create: true })
      if (!openedPath) throw notFoundError(path)
      return await createDraftAt(openedPath, path)
    } catch (error) {
      if (openedPath) await removeEmptyFolders(openedPath.folders)
      await openedPath?.[Symbol.asyncDispose]()
      // A folder on the path may have been removed with its last file before ours was in it.
      if (errnoOf(error) !== "ENOENT" || attempt > 20) throw toLocalError(error, path)
    }
  }
}

/** Identifies a version of a file. Each of our writes creates a new inode with a distinct time. */
export function etagOf({ ino, size, mtimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs].map((figure) => figure.toString(36)).join("-")
}

/** Returns true for the name of a draft, which may have been left by a killed process. */
export function isDraftName(name: string): boolean {
  return /^\.karst-[0-9a-f]{16}\.tmp$/.test(name)
}

/** Removes folders, from the innermost up to the root, as long as they are empty. */
export async function removeEmptyFolders(folders: readonly OpenFolder[]): Promise<void> {
  for (let depth = folders.length - 1; depth > 0; depth--) {
    const [above, folder] = [folders[depth - 1], folders[depth]]
    if (!above || !folder || !(await rmdir(above.at(folder.name)).then(yes, no))) return
  }
}

async function createDraftAt(openedPath: OpenPath, path: string): Promise<FileDraft> {
  const { folders, folder, name, stats } = openedPath
  if (stats && !stats.isFile()) throw pathTakenError(path, path)
  const target = folder.at(name)
  // A rename would replace a file that may not be written, so this is checked first.
  if (stats) await (await undefinedOn("ENOENT", path, open(target, forWriting)))?.close()
  const draft = folder.at(`.karst-${randomBytes(8).toString("hex")}.tmp`)
  const file = await open(draft, exclusively, stats || isInPrivateFolder(folders) ? privateFileMode : 0o666)
  let isPublished = false
  return {
    before: stats ? etagOf(stats) : null,

    async write(chunk) {
      await file.appendFile(chunk).catch((error) => {
        throw toLocalError(error, path)
      })
    },

    async publish(ifMatch) {
      try {
        if (stats) await keepOwner(file, stats)
        await file.utimes(Date.now() / 1000, preciseNow())
        await file.datasync()
        const written = await file.stat({ bigint: true })
        replaceTarget(draft, target, path, ifMatch)
        isPublished = true
        return written
      } catch (error) {
        throw toLocalError(error, path)
      }
    },

    async [Symbol.asyncDispose]() {
      await file.close()
      if (!isPublished) {
        await unlink(draft).catch(no)
        await removeEmptyFolders(folders)
      }
      await openedPath[Symbol.asyncDispose]()
    },
  }
}

// Checked and renamed without an await in between, so nothing in this process can interfere.
function replaceTarget(draft: string, target: string, path: string, ifMatch: string | null | undefined): void {
  if (ifMatch === null && linkIfAbsent(draft, target, path)) return unlinkSync(draft)
  if (ifMatch !== undefined) {
    const now = lstatSync(target, { bigint: true, throwIfNoEntry: false })
    checkIfMatch(path, ifMatch, now && etagOf(now))
  }
  try {
    renameSync(draft, target)
  } catch (error) {
    throw takenCodes.includes(errnoOf(error) ?? "") ? pathTakenError(path, path) : error
  }
}

const takenCodes = ["EISDIR", "ENOTEMPTY", "EEXIST"]

// A hard link can only be created if the name does not exist, also when others try. Returns false if the system has no
// links.
function linkIfAbsent(draft: string, target: string, path: string): boolean {
  try {
    linkSync(draft, target)
    return true
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw conflictError(path, null, error)
    return false
  }
}

async function keepOwner(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const current = await file.stat({ bigint: true })
  // Only a privileged process may change the owner; otherwise the file belongs to this process.
  if (current.uid !== uid || current.gid !== gid) await file.chown(Number(uid), Number(gid)).catch(no)
  await file.chmod(Number(mode & 0o7777n))
}

// In seconds, with microseconds: file systems have coarse clocks and reuse inodes, so two versions could look alike.
function preciseNow(): number {
  return (Date.now() + Number(process.hrtime.bigint() % 1_000_000n) / 1_000_000) / 1000
}

const forWriting = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const exclusively = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const yes = () => true
const no = () => false
