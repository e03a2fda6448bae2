import { readdirSync, readFileSync, renameSync, unlinkSync } from "node:fs"
import { open } from "node:fs/promises"
import { uptime } from "node:os"
import { dirname, join } from "node:path"
import { makePrivateFolderSync } from "../core/private-files.ts"
import { ifThere, isMissing } from "./file-failure.ts"
import { marks, writeLine } from "./file-lines.ts"
import { type Steps, writeDraft } from "./file-steps.ts"

/** Where the store keeps what is for itself only. A key's file never begins with a dot. */
export const ownFolder = ".store"
export const journalFile = join(ownFolder, "journal")

/** Waits until all that these steps did to files is on the disk. */
export async function keepSteps(root: string, steps: readonly Steps[]): Promise<void> {
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const { appends, moves, removes } of steps) {
    for (const { file } of [...appends, ...moves]) files.add(file)
    for (const file of [...files, ...removes]) {
      for (let folder = dirname(file); !folders.has(folder); folder = dirname(folder)) folders.add(folder)
    }
  }
  // Many at once share the trips to the disk. Folders come last: they name the files.
  for (const names of [...inBatches(files), ...inBatches(folders)]) {
    await Promise.all(names.map((name) => keep(join(root, name))))
  }
}

function* inBatches(names: Iterable<string>): Generator<string[]> {
  const all = [...names]
  for (let from = 0; from < all.length; from += 64) yield all.slice(from, from + 64)
}

/** A journal with nothing in it takes the place of the one before. */
export async function beginJournal(root: string, revision: number, sync: boolean): Promise<void> {
  const folder = join(root, ownFolder)
  makePrivateFolderSync(folder)
  // Drafts that nobody will move any more: who wrote them was stopped before it was decided.
  for (const name of readdirSync(folder)) if (name.endsWith(".draft")) unlinkSync(join(folder, name))
  const draft = join(folder, "journal.draft")
  await writeDraft(draft, [writeLine({ format: 1, revision, boot: boot() }, marks.done)], sync)
  renameSync(draft, join(root, journalFile))
  if (sync) await keep(folder)
}

/** Which start of the machine this is. */
export function boot(): string {
  current ??= bootOfLinux() ?? `minute ${Math.round((Date.now() - uptime() * 1000) / 60_000)}`
  return current
}

let current: string | undefined

function bootOfLinux(): string | undefined {
  return ifThere(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"))?.trim()
}

async function keep(path: string): Promise<void> {
  try {
    await using file = await open(path, "r")
    await file.sync()
  } catch (error) {
    // Removed since.
    if (!isMissing(error)) throw error
  }
}
