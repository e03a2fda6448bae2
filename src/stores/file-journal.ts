import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { ConfigError } from "../core/errors.ts"
import { beginJournal, boot, journalFile, keepSteps } from "./file-disk.ts"
import { ifThere } from "./file-failure.ts"
import { type Header, marks, readLine, writeLine } from "./file-lines.ts"
import {
  doAppends,
  doTheRest,
  dropDrafts,
  prepareSteps,
  redoSteps,
  type Steps,
  takeBack,
  writeAll,
} from "./file-steps.ts"
import { corruptError } from "./store-errors.ts"

/** Where the journal was at some moment: which file, and how long. Between two looks that are alike nothing was decided. */
export interface Look {
  file: number
  size: number
}

/** The commits of late, a line each. A commit is decided when its line is complete, and then done to the files of the
 *  store; a mark at the end of the line tells that this is over. Whoever finds it missing does it. */
export interface Journal {
  look(): Look
  /** Whether everything decided by then is done. */
  isDone(look: Look): boolean
  /** Does what was decided, and gives the last revision. Only under the lock, as all that follows. */
  recover(): Promise<number>
  /** Decides and does these steps, all or none. Only right after `recover`. */
  commit(steps: Steps): Promise<void>
  /** Begins a new journal, once all that the old one tells is on the disk. */
  shorten(): Promise<void>
  close(): void
}

interface JournalOptions {
  root: string
  /** Which store, for errors. */
  name: string
  sync: boolean
  /** The last revision of a store without a journal. */
  lastRevision(): number
}

interface Opened {
  descriptor: number
  file: number
  header: Header
}

export function createJournal({ root, name, sync, lastRevision }: JournalOptions): Journal {
  const path = join(root, journalFile)
  // Held open, because as long as it is no other file can have its number.
  let opened: Opened | undefined
  let done: Look = absent
  let known = { ...absent, revision: 0 }

  function look(): Look {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) return absent
    if (found.ino !== opened?.file) {
      close()
      opened = ifThere(() => openJournal(path, name))
    }
    return opened ? { file: opened.file, size: fstatSync(opened.descriptor).size } : look()
  }

  function isDone(at: Look): boolean {
    if (isAlike(at, absent) || isAlike(at, done)) return true
    if (!opened || opened.header.boot !== boot()) return false
    const end = String(bytesOf(at.size - 2, at.size))
    if (end !== `${marks.done}\n` && end !== `${marks.void}\n`) return false
    done = at
    return true
  }

  async function recover(): Promise<number> {
    const at = look()
    if (!opened || isAlike(at, absent)) return restart(lastRevision())
    if (isAlike(at, known)) return known.revision
    if (opened.header.boot !== boot()) return redoAll(opened)
    const from = at.file === known.file ? known.size : 0
    const text = String(bytesOf(from, at.size))
    const end = text.lastIndexOf("\n") + 1
    const size = from + Buffer.byteLength(text.slice(0, end))
    // Whoever wrote a line without an end was stopped before it was decided.
    if (size < at.size) ftruncateSync(opened.descriptor, size)
    if (end > 0) known = { file: at.file, size, revision: redoLast(text.slice(0, end - 1), size) }
    done = { file: at.file, size }
    return known.revision
  }

  function redoLast(text: string, size: number): number {
    const line = readLine<Steps>(text.slice(text.lastIndexOf("\n") + 1))
    if (!line) throw damaged(path, name)
    if (line.mark === marks.decided) {
      redoSteps(root, line.data)
      mark(size, marks.done)
    }
    return line.data.revision
  }

  // The machine was started anew: what was done to the files may not have reached the disk.
  async function redoAll({ descriptor }: Opened): Promise<number> {
    const lines = linesOf(descriptor).map((line) => readLine<Steps>(line))
    const whole = lines.at(-1) ? lines : lines.slice(0, -1)
    let revision = 0
    for (const line of whole) {
      if (!line) throw damaged(path, name)
      revision = line.data.revision
      if (line !== whole[0] && line.mark !== marks.void) redoSteps(root, line.data)
    }
    await keepAll(whole.slice(1).flatMap((line) => line?.data ?? []))
    return restart(revision)
  }

  async function commit(steps: Steps): Promise<void> {
    if (!opened) throw damaged(path, name)
    const size = await decide(opened.descriptor, steps)
    try {
      doAppends(root, steps)
    } catch (error) {
      takeBack(root, steps)
      // The line stays: who read meanwhile sees by its length that something went on.
      mark(size, marks.void)
      dropDrafts(root, steps)
      throw error
    }
    doTheRest(root, steps)
    mark(size, marks.done)
    known = { file: opened.file, size, revision: steps.revision }
    done = { file: opened.file, size }
    if (size > longest) await shorten()
  }

  /** Gives the length of the journal with the line. */
  async function decide(descriptor: number, steps: Steps): Promise<number> {
    const line = writeLine(steps, marks.decided)
    try {
      prepareSteps(root, steps)
      writeAll(descriptor, line, known.size)
      if (sync) await datasync(descriptor)
      return known.size + line.length
    } catch (error) {
      ftruncateSync(descriptor, known.size)
      dropDrafts(root, steps)
      throw error
    }
  }

  async function shorten(): Promise<void> {
    if (!opened || known.size === 0) return
    const [, ...lines] = linesOf(opened.descriptor)
    if (lines.length === 0) return
    await keepAll(lines.flatMap((line) => readLine<Steps>(line)?.data ?? []))
    await restart(known.revision)
  }

  async function keepAll(steps: readonly Steps[]): Promise<void> {
    if (sync) await keepSteps(root, steps)
  }

  async function restart(revision: number): Promise<number> {
    await beginJournal(root, revision, sync)
    done = look()
    known = { ...done, revision }
    return revision
  }

  function mark(size: number, text: string): void {
    if (opened) writeAll(opened.descriptor, Buffer.from(text), size - 2)
  }

  function bytesOf(from: number, to: number): Buffer {
    return opened ? readRange(opened.descriptor, from, to) : Buffer.alloc(0)
  }

  function close(): void {
    if (opened) closeSync(opened.descriptor)
    opened = undefined
  }

  return { look, isDone, recover, commit, shorten, close }
}

export function isAlike(a: Look, b: Look): boolean {
  return a.file === b.file && a.size === b.size
}

function openJournal(path: string, name: string): Opened {
  const descriptor = openForUse(path)
  try {
    const [first = ""] = linesOf(descriptor, 4096)
    const header = readLine<Header>(first)?.data
    if (!header) throw damaged(path, name)
    if (header.format > 1) {
      throw new ConfigError(
        `${name} was made by a newer version of Karst (format ${header.format}). Update karst to open it.`,
      )
    }
    return { descriptor, file: fstatSync(descriptor).ino, header }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

// A store on a read-only medium can be read.
function openForUse(path: string): number {
  try {
    return openSync(path, "r+")
  } catch (error) {
    if (["EACCES", "EPERM", "EROFS"].includes(String((error as NodeJS.ErrnoException).code))) return openSync(path, "r")
    throw error
  }
}

/** Lines without their ends, also a last one that has none. */
function linesOf(descriptor: number, atMost = fstatSync(descriptor).size): string[] {
  const lines = String(readRange(descriptor, 0, atMost)).split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

function readRange(descriptor: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, to - from))
  return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from))
}

function damaged(path: string, name: string) {
  const cure = `What was decided last is in it. Restore it from a backup; or, to go on with the files as they are, remove it.`
  return corruptError(name, `its journal "${path}" is not as it was written`, cure)
}

const absent: Look = { file: 0, size: 0 }
const longest = 4 * 2 ** 20
const datasync = promisify(fdatasync)
