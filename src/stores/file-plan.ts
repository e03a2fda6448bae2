import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import { AgentError } from "../core/errors.ts"
import type { EncodedChange } from "./encode-changes.ts"
import { ownFolder } from "./file-disk.ts"
import { fileOf } from "./file-names.ts"
import { type Steps, writeDraft } from "./file-steps.ts"
import { endings, valueChunks } from "./file-values.ts"

/** What these changes come to, file by file. Large contents are written beside already, and on the disk. */
export async function planSteps(
  root: string,
  changes: readonly EncodedChange[],
  revision: number,
  sync: boolean,
): Promise<Steps> {
  const { values, logs } = outcome(changes)
  const steps: Steps = { revision, appends: [], moves: [], removes: [] }
  const isThere = (file: string) => existsSync(join(root, file))

  async function move(file: string, chunks: (string | Uint8Array)[]): Promise<void> {
    const draft = join(ownFolder, `${revision}-${steps.moves.length}.draft`)
    refuseFolder(join(root, file))
    const text = textOf(chunks)
    if (text === undefined) await writeDraft(join(root, draft), chunks, sync)
    steps.moves.push({ draft, file, ...(text !== undefined && { text }) })
  }

  for (const [key, value] of values) {
    const json = `${fileOf(key)}${endings.json}`
    const bytes = `${fileOf(key)}${endings.bytes}`
    const [file, other] = typeof value === "string" ? [json, bytes] : [bytes, json]
    if (value !== undefined) await move(file, valueChunks(key, revision, value))
    steps.removes.push(...(value === undefined ? [json, bytes] : [other]).filter(isThere))
  }
  for (const [log, { isNew, items }] of logs) {
    const file = `${fileOf(log)}${endings.log}`
    const text = items.map((item) => `${item}\n`).join("")
    if (items.length === 0) steps.removes.push(...[file].filter(isThere))
    else if (isNew) await move(file, [text])
    else steps.appends.push({ file, at: endOf(join(root, file)), text })
  }
  return steps
}

/** Changes of the same thing taken together: the last value, and what a log has to be given. */
function outcome(changes: readonly EncodedChange[]) {
  const values = new Map<string, string | Uint8Array | undefined>()
  const logs = new Map<string, { isNew: boolean; items: string[] }>()
  for (const change of changes) {
    switch (change.type) {
      case "put":
        values.set(change.key, change.value)
        break
      case "append": {
        const log = logs.get(change.log) ?? { isNew: false, items: [] }
        logs.set(change.log, log)
        for (const item of change.items) log.items.push(item)
        break
      }
      case "delete":
        values.set(change.key, undefined)
        logs.set(change.key, { isNew: true, items: [] })
    }
  }
  return { values, logs }
}

function textOf(chunks: readonly (string | Uint8Array)[]): string | undefined {
  const isShort = chunks.every((chunk) => typeof chunk === "string" && chunk.length < longestInline)
  return isShort ? chunks.join("") : undefined
}

/** Where the next line begins: behind the last that is complete. */
function endOf(path: string): number {
  refuseFolder(path)
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return 0
  const descriptor = openSync(path, "r")
  try {
    const bytes = Buffer.alloc(65_536)
    for (let end = size; end > 0; ) {
      const start = end === size ? size - 1 : Math.max(0, end - bytes.length)
      const read = readSync(descriptor, bytes, 0, end - start, start)
      const last = bytes.subarray(0, read).lastIndexOf(10)
      if (last >= 0) return start + last + 1
      end = start
    }
    return 0
  } finally {
    closeSync(descriptor)
  }
}

function refuseFolder(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  throw new AgentError(`"${path}" is a folder where the store needs a file. Move it away.`, { code: "path-taken" })
}

const longestInline = 65_536
