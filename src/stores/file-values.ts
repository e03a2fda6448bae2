import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { ifThere } from "./file-failure.ts"
import { fileOf } from "./file-names.ts"
import type { StoreEntry } from "./store.ts"
import { corruptError } from "./store-errors.ts"

/** What the files of a store end in. */
export const endings = { json: ".json", bytes: ".bin", log: ".jsonl" }

/** A value as its file has it: `{ key, revision, value }`, or such a line without the value, and the bytes after it. */
export function valueChunks(key: string, revision: number, value: string | Uint8Array): (string | Uint8Array)[] {
  const head = `{"key":${JSON.stringify(key)},"revision":${revision}`
  return typeof value === "string" ? [`${head},"value":${value}}\n`] : [`${head}}\n`, value]
}

export async function readValue(root: string, key: string): Promise<StoreEntry | undefined> {
  const file = join(root, fileOf(key))
  const json = await contentOf(file + endings.json)
  if (json) {
    const { value, revision } = parseHead(file + endings.json, String(json), key)
    if (value === undefined) throw damaged(file + endings.json)
    return { value, revision }
  }
  const bytes = await contentOf(file + endings.bytes)
  if (!bytes) return undefined
  const end = bytes.indexOf(10)
  const { revision } = parseHead(file + endings.bytes, String(bytes.subarray(0, Math.max(end, 0))), key)
  return { value: new Uint8Array(bytes.subarray(end + 1)), revision }
}

/** Of a value of any size, without reading it; 0 where there is none. */
export function readRevision(root: string, key: string): number {
  const file = join(root, fileOf(key))
  for (const path of [file + endings.json, file + endings.bytes]) {
    const head = ifThere(() => headOf(path))
    if (head) return head.revision
  }
  return 0
}

/** The key and revision in a value's file. */
export function headOf(path: string): { key: string; revision: number } {
  const descriptor = openSync(path, "r")
  try {
    const bytes = Buffer.alloc(8192)
    const start = String(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)))
    const found = /^\{"key":("(?:[^"\\]|\\.)*"),"revision":(\d+)[,}]/.exec(start)
    if (found) return { key: JSON.parse(found[1] ?? ""), revision: Number(found[2]) }
  } finally {
    closeSync(descriptor)
  }
  // Somebody may have laid it out anew.
  return parseHead(path, readFileSync(path, "utf8"))
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  const descriptor = ifThere(() => openSync(path, "r"))
  if (descriptor === undefined) return undefined
  try {
    // What is small is there sooner than another thread could say so.
    return fstatSync(descriptor).size < 1_000_000 ? readFileSync(descriptor) : await readFile(path)
  } finally {
    closeSync(descriptor)
  }
}

function parseHead(
  path: string,
  text: string,
  key?: string,
): { key: string; revision: number; value?: StoreEntry["value"] } {
  try {
    const head = JSON.parse(text)
    if (typeof head.key === "string" && Number.isSafeInteger(head.revision) && (key ?? head.key) === head.key)
      return head
  } catch (error) {
    throw damaged(path, error)
  }
  throw damaged(path)
}

function damaged(path: string, cause?: unknown) {
  return corruptError(
    `The value "${path}"`,
    "it is not as it was written",
    "Restore it from a backup, or delete its key.",
    cause,
  )
}
