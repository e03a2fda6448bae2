import { createReadStream } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { setTimeout as delay } from "node:timers/promises"
import { errorData } from "../../core/errors.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import { createPreview, type Excerpt } from "./output-preview.ts"

/** What a command writes: all of it on disk up to a limit, its beginning and its end in memory. */
export interface CommandOutput {
  /** Takes a piece once there is room for it. Never rejects. */
  add(chunk: Uint8Array): Promise<void>
  /** What came since the last time. */
  take(ended: boolean): Excerpt
  /** What is not kept, as a sentence; undefined when all is. */
  droppedNote(): string | undefined
  /** Puts what is kept so far into the workspace, for the model to read; gives its path. */
  publish(): Promise<string>
  /** Publishes the rest where a part was published. Nothing can be added any more. Never rejects. */
  end(): Promise<void>
}

export interface OutputOptions {
  /** Where it is kept meanwhile: out of reach of what it comes from. */
  file: string
  workspace: Workspace
  /** Where it is put in the workspace. */
  path: string
  maxBytes: number
  previewBytes: number
  /** Told what comes, as it comes. */
  onChunk?: ((chunk: Uint8Array) => void) | undefined
}

export function createCommandOutput(options: OutputOptions): CommandOutput {
  const { file, workspace, path, maxBytes, previewBytes, onChunk: tell } = options
  const shown = createPreview(previewBytes)
  let handle: FileHandle | undefined
  let received = 0
  let flood = 0
  let kept = 0
  let published = 0
  let broken: string | undefined
  let last: Promise<void> = Promise.resolve()

  async function keep(chunk: Uint8Array): Promise<void> {
    if (broken !== undefined) return
    try {
      handle ??= await open(file, "wx", 0o600)
      await handle.appendFile(chunk)
      kept += chunk.length
    } catch (error) {
      broken = errorData(error).message
    }
  }

  function dropped(): string | undefined {
    if (broken !== undefined) return `Output beyond ${sizeText(kept)} could not be kept: ${broken}.`
    return received > kept ? `Output beyond ${sizeText(kept)} was dropped.` : undefined
  }

  async function* content(length: number): AsyncGenerator<Uint8Array> {
    if (length > 0) yield* createReadStream(file, { end: length - 1 })
    const note = dropped()
    if (note !== undefined) yield Buffer.from(`\n${note}\n`)
  }

  // One after the other, so that the newest is what stays.
  async function publish(): Promise<string> {
    const turn = last.then(async () => {
      if (published === received) return
      const until = received
      await workspace.write(path, content(kept))
      published = until
    })
    last = turn.catch(() => undefined)
    await turn
    return path
  }

  return {
    async add(chunk) {
      tell?.(chunk)
      const room = chunk.subarray(0, Math.max(0, maxBytes - kept))
      if (room.length > 0) await keep(room)
      received += chunk.length
      shown.add(chunk)
      // A flood that nobody keeps must not keep the program busy either.
      if (room.length === 0 && ++flood % 4 === 0) await delay(1)
    },
    take: (ended) => shown.take(ended),
    droppedNote: dropped,
    publish,
    async end() {
      try {
        if (published > 0) await publish()
      } catch {
        // What was published before stays; the next to publish is told why.
      }
      await handle?.close().catch(() => undefined)
    },
  }
}

/** A number of bytes for people. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const [unit, size] = bytes < 1_000_000 ? ["kB", bytes / 1000] : ["MB", bytes / 1_000_000]
  return `${Math.round(size * 10) / 10} ${unit}`
}
