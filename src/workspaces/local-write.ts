import { randomBytes } from "node:crypto"
import { type BigIntStats, constants, linkSync, lstatSync, renameSync, unlinkSync } from "node:fs"
import { type FileHandle, open, rmdir, unlink } from "node:fs/promises"
import { privateFileMode } from "../core/private-files.ts"
import { errnoOf, toLocalError, undefinedOn } from "./local-errors.ts"
import { isInPrivateFolder, type OpenFolder, type OpenPath, openPath } from "./local-folder.ts"
import { checkIfMatch, conflictError, notFoundError, pathTakenError } from "./workspace-errors.ts"

/** A file that nobody sees yet, written beside the one it will replace. Disposed of before it was published, it is gone. */
export interface Draft extends AsyncDisposable {
  /** The version that was there when it was begun; null: none. */
  readonly before: string | null
  write(chunk: Uint8Array): Promise<void>
  /** Puts it in its place in one step, provided that this version is there. */
  publish(ifMatch: string | null | undefined): Promise<BigIntStats>
}

export async function createDraft(root: string, path: string): Promise<Draft> {
  for (let attempt = 0; ; attempt++) {
    let place: OpenPath | undefined
    try {
      place = await openPath(root, path, { create: true })
      if (!place) throw notFoundError(path)
      return await createDraftAt(place, path)
    } catch (error) {
      if (place) await removeEmptyFolders(place.folders)
      await place?.[Symbol.asyncDispose]()
      // A folder on the way may have gone with its last file before ours was in it.
      if (errnoOf(error) !== "ENOENT" || attempt > 20) throw toLocalError(error, path)
    }
  }
}

/** Which version of a file this is. Every write of ours makes a new inode with a time of its own. */
export function etagOf({ ino, size, mtimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs].map((figure) => figure.toString(36)).join("-")
}

/** Whether a name is that of a draft, maybe one that a killed process left behind. */
export function isDraftName(name: string): boolean {
  return /^\.karst-[0-9a-f]{16}\.tmp$/.test(name)
}

/** Removes folders, from the innermost up to the root, as long as nothing is in them. */
export async function removeEmptyFolders(folders: readonly OpenFolder[]): Promise<void> {
  for (let depth = folders.length - 1; depth > 0; depth--) {
    const [above, folder] = [folders[depth - 1], folders[depth]]
    if (!above || !folder || !(await rmdir(above.at(folder.name)).then(yes, no))) return
  }
}

async function createDraftAt(place: OpenPath, path: string): Promise<Draft> {
  const { folders, folder, name, stats } = place
  if (stats && !stats.isFile()) throw pathTakenError(path, path)
  const target = folder.at(name)
  // Renaming asks nothing of the file that goes, but one that may not be written must stay.
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
      await place[Symbol.asyncDispose]()
    },
  }
}

// Checked and renamed in one turn of the event loop: within a process nothing comes between.
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

// A second name for a file can only be made where none is yet, whoever else tries. False where there are no such links.
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
  const own = await file.stat({ bigint: true })
  // Only a privileged process may give files away; for any other the new file is its own.
  if (own.uid !== uid || own.gid !== gid) await file.chown(Number(uid), Number(gid)).catch(no)
  await file.chmod(Number(mode & 0o7777n))
}

// In seconds, to the microsecond: file systems tell time in ticks and use inodes again, so two versions could look alike.
function preciseNow(): number {
  return (Date.now() + Number(process.hrtime.bigint() % 1_000_000n) / 1_000_000) / 1000
}

const forWriting = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const exclusively = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const yes = () => true
const no = () => false
