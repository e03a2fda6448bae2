// The format of a session's folder: session.json, the logs beside it, and the errors for damaged files.
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { checkKey } from "../../stores/encode-changes.ts"
import { corruptError } from "../../stores/store-errors.ts"
import { pathOfName } from "./file-names.ts"
import { ifThere, restoreOrDeleteSession } from "./folder-errors.ts"

export const sessionFile = "session.json"
export const snapshotFile = "snapshot.bin"

/** The contents of session.json. */
export interface SessionFile {
  key: string
  /** The commit that last wrote the session record. */
  revision: number
  /** The session record. */
  value?: Json
  /** The calls of the cycle under way. */
  calls?: Json
  /** The committed length of each log in bytes. */
  logs: { [log: string]: number }
  /** The file of a snapshot that was committed and perhaps not renamed to snapshot.bin yet. */
  draft?: string
}

export interface Location {
  key: string
  directory: string
  /** The rest of the key: "session", "calls", "snapshot", "events", "recording" or "artifacts/<name>". */
  part: string
}

export function locate(root: string, key: string): Location {
  const [, id, part] = /^sessions\/([^/]+)\/(.+)$/s.exec(checkKey(key)) ?? []
  if (id === undefined || part === undefined) throw new ConfigError(`"${key}" is not a key of a session.`)
  return { key, directory: sessionDirectory(root, id), part }
}

export function sessionDirectory(folder: string, id: string): string {
  return resolve(folder, "sessions", pathOfName(id))
}

/** The committed length of a log in bytes; undefined in a copy of the folder without session.json. Bytes after it
 *  belong to a commit that was never finished. */
export async function committedLength(directory: string, log: string): Promise<number | undefined> {
  const file = await readSessionFile(directory)
  return file && (file.logs[log] ?? 0)
}

/** The committed lines of a log. */
export async function readLog(directory: string, log: string): Promise<string[]> {
  const length = await committedLength(directory, log)
  if (!length) return []
  const path = join(directory, `${log}.jsonl`)
  const bytes = (await ifThere(readFile(path))) ?? Buffer.alloc(0)
  if (bytes.length < length) throw shortLogError(path, bytes.length, length)
  return String(bytes.subarray(0, length - 1)).split("\n")
}

/** Returns undefined if there is no such session. */
export async function readSessionFile(directory: string): Promise<SessionFile | undefined> {
  const path = join(directory, sessionFile)
  const text = await ifThere(readFile(path, "utf8"))
  if (text === undefined) return undefined
  const { key, revision, logs, ...rest } = parseFile(path, text)
  const numbers = isRecord(logs) ? [revision, ...Object.values(logs)] : [undefined]
  const isDraftName = rest.draft === undefined || /^snapshot\.\d+\.draft$/.test(String(rest.draft))
  if (!numbers.every((each) => Number.isSafeInteger(each) && Number(each) >= 0) || !isDraftName)
    throw damagedFileError(path)
  // The writer of this module wrote it; the session record is checked by its reader.
  return { key, revision: Number(revision), logs: logs as SessionFile["logs"], ...(rest as Partial<SessionFile>) }
}

export async function readArtifact(directory: string, part: string, key: string): Promise<Json | undefined> {
  const path = artifactPath(directory, part)
  const text = await ifThere(readFile(path, "utf8"))
  const artifact = text === undefined ? undefined : parseFile(path, text)
  if (artifact && artifact.key !== key) throw damagedFileError(path)
  return artifact?.value
}

export function artifactPath(directory: string, part: string): string {
  return join(directory, `${pathOfName(part)}.json`)
}

export function parseFile(path: string, text: string): { key: string; [name: string]: Json | undefined } {
  const read: unknown = parseJson(path, text)
  if (typeof read === "object" && read !== null && "key" in read && typeof read.key === "string") {
    return { ...read, key: read.key }
  }
  throw damagedFileError(path)
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damagedFileError(path, error)
  }
}

function damagedFileError(path: string, cause?: unknown) {
  return corruptError(`The file "${path}"`, "it is not as it was written", restoreOrDeleteSession, cause)
}

export function shortLogError(path: string, size: number, length: number) {
  return corruptError(`The log "${path}"`, `it has ${size} bytes, and ${length} were written`, restoreOrDeleteSession)
}
