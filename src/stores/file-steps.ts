import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmdirSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { AgentError } from "../core/errors.ts"
import { makePrivateFolderSync, privateFileMode } from "../core/private-files.ts"
import { ifThere, isMissing } from "./file-failure.ts"

/** What a commit does to files, each of them named relative to the store's folder. Done again it comes to the same. */
export interface Steps {
  revision: number
  /** Lines that begin at a byte of a log. */
  appends: { file: string; at: number; text: string }[]
  /** New contents, written beside and then moved into their place. What is small is told here too, and need not be on the
   *  disk beforehand. */
  moves: { draft: string; file: string; text?: string }[]
  removes: string[]
}

/** Everything that needs room, except for the lines: drafts and folders. */
export function prepareSteps(root: string, steps: Steps): void {
  const made = new Set([...steps.appends, ...steps.moves].map(({ file }) => dirname(join(root, file))))
  for (const folder of made) makePrivateFolderSync(folder)
  for (const { draft, text } of steps.moves)
    if (text !== undefined) writeFileSync(join(root, draft), text, { mode: privateFileMode })
}

/** Takes back the appends, also those that were not made. */
export function takeBack(root: string, { appends }: Steps): void {
  for (const { file, at } of appends) {
    if (at > 0) ifThere(() => truncateSync(join(root, file), at))
    if (at === 0) remove(root, file)
  }
}

export function dropDrafts(root: string, { moves }: Steps): void {
  for (const { draft } of moves) ifThere(() => unlinkSync(join(root, draft)))
}

/** Only this can still lack room. */
export function doAppends(root: string, { appends }: Steps): void {
  for (const { file, at, text } of appends) {
    const descriptor = openSync(join(root, file), constants.O_RDWR | constants.O_CREAT, privateFileMode)
    try {
      const { size } = fstatSync(descriptor)
      if (size < at) throw tooShort(join(root, file), size, at)
      const bytes = Buffer.from(text)
      writeAll(descriptor, bytes, at)
      if (size > at + bytes.length) ftruncateSync(descriptor, at + bytes.length)
    } finally {
      closeSync(descriptor)
    }
  }
}

export function doTheRest(root: string, { moves, removes }: Steps): void {
  for (const { draft, file } of moves) {
    // Moved already, by whoever began this and was stopped.
    ifThere(() => renameSync(join(root, draft), join(root, file)))
  }
  for (const file of removes) remove(root, file)
}

/** Once more, by somebody else than who began, after whatever happened to it. */
export function redoSteps(root: string, steps: Steps): void {
  // A folder may come from anywhere, and its journal with it: it changes nothing outside.
  const drafts = steps.moves.map(({ draft }) => draft)
  const files = [...steps.appends, ...steps.moves].map(({ file }) => file)
  const foreign = [...drafts, ...files, ...steps.removes].find((file) => !isOwn.test(file))
  if (foreign !== undefined) throw new AgentError(`The journal of "${root}" names "${foreign}".`, { code: "corrupt" })
  prepareSteps(root, steps)
  doAppends(root, steps)
  doTheRest(root, steps)
}

export async function writeDraft(path: string, chunks: readonly (string | Uint8Array)[], sync: boolean): Promise<void> {
  await using file = await open(path, "w", privateFileMode)
  for (const chunk of chunks) await file.writeFile(chunk)
  if (sync) await file.datasync()
}

/** Writes all of it; where the disk is full a plain write may do a part. */
export function writeAll(descriptor: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done)
  }
}

/** With the folders that it leaves empty. */
function remove(root: string, file: string): void {
  ifThere(() => unlinkSync(join(root, file)))
  for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
    try {
      rmdirSync(join(root, folder))
    } catch (error) {
      if (!isMissing(error)) return
    }
  }
}

const isOwn = /^(?:\.store\/\d+-\d+\.draft|[a-z0-9_%-][a-z0-9_%/-]*\.(?:json|bin|jsonl))$/

function tooShort(path: string, size: number, at: number): AgentError {
  const message = `The log "${path}" is damaged: it has ${size} bytes, and ${at} were written. Restore it from a backup, or delete it.`
  return new AgentError(message, { code: "corrupt" })
}
