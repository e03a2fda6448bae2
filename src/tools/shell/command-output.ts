// Stores the output of a command: completely on disk up to a limit, beginning and end in memory.
import { createReadStream } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { setTimeout as delay } from "node:timers/promises"
import { errorData } from "../../core/errors.ts"
import { serialQueue } from "../../core/serial.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import { sizeText } from "../files/file-results.ts"
import { createPreview, type Excerpt } from "./output-preview.ts"

export interface CommandOutput {
  /** Adds a chunk after earlier ones have been written. Never rejects. */
  add(chunk: Uint8Array): Promise<void>
  /** Returns the output since the last call. */
  take(ended: boolean): Excerpt
  /** A sentence about output that was not stored; undefined if all was. */
  droppedNote(): string | undefined
  /** Writes the output so far to the workspace, for the model to read. Returns its path. */
  publish(): Promise<string>
  /** Publishes the rest if a part was published. Nothing can be added afterwards. Never rejects. */
  end(): Promise<void>
}

export interface OutputOptions {
  /** Where the output is stored, out of reach of the command. */
  file: string
  workspace: Workspace
  /** The path in the workspace for `publish`. */
  path: string
  maxBytes: number
  maxPreviewBytes: number
  /** Called with each chunk as it arrives. */
  onChunk?: ((chunk: Uint8Array) => void) | undefined
}

export function createCommandOutput(options: OutputOptions): CommandOutput {
  const { file, workspace, path, maxBytes, maxPreviewBytes, onChunk } = options
  const preview = createPreview(maxPreviewBytes)
  let handle: FileHandle | undefined
  let received = 0
  let flood = 0
  let stored = 0
  let published = 0
  let broken: string | undefined
  const queue = serialQueue()

  async function store(chunk: Uint8Array): Promise<void> {
    if (broken !== undefined) return
    try {
      handle ??= await open(file, "wx", 0o600)
      await handle.appendFile(chunk)
      stored += chunk.length
    } catch (error) {
      broken = errorData(error).message
    }
  }

  function droppedNote(): string | undefined {
    if (broken !== undefined) return `Output beyond ${sizeText(stored)} could not be kept: ${broken}.`
    return received > stored ? `Output beyond ${sizeText(stored)} was dropped.` : undefined
  }

  async function* content(length: number): AsyncGenerator<Uint8Array> {
    if (length > 0) yield* createReadStream(file, { end: length - 1 })
    const note = droppedNote()
    if (note !== undefined) yield Buffer.from(`\n${note}\n`)
  }

  // One after another, so that the newest version wins.
  async function publish(): Promise<string> {
    await queue(async () => {
      if (published === received) return
      const until = received
      await workspace.write(path, content(stored))
      published = until
    })
    return path
  }

  return {
    async add(chunk) {
      onChunk?.(chunk)
      const room = chunk.subarray(0, Math.max(0, maxBytes - stored))
      if (room.length > 0) await store(room)
      received += chunk.length
      preview.add(chunk)
      // Output that is dropped must not keep this process busy.
      if (room.length === 0 && ++flood % 4 === 0) await delay(1)
    },
    take: (ended) => preview.take(ended),
    droppedNote,
    publish,
    async end() {
      try {
        if (published > 0) await publish()
      } catch {
        // The version published before stays. The next call of `publish` reports the error.
      }
      await handle?.close().catch(() => undefined)
    },
  }
}
