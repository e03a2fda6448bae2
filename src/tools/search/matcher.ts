// Runs searches in a worker thread, which can be terminated whatever the pattern does.
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { rejectOnAbort } from "../../core/abort.ts"
import type { FileMatch, MatchOptions } from "./match-lines.ts"

export interface FileBytes {
  path: string
  bytes: Uint8Array
}

export interface MatchRequest {
  files: FileBytes[]
  /** The number of rows or files still needed. */
  maxResults: number
}

export function startMatcher(options: MatchOptions, signal: AbortSignal) {
  const worker = new Worker(workerFile, {
    workerData: options,
    // The worker needs neither the environment nor the flags of this process.
    env: {},
    execArgv: [],
  })
  // An error between two requests is reported at the next one.
  const failed = new Promise<never>((_, reject) => worker.once("error", reject))
  failed.catch(() => {})
  return {
    /** Searches files; one request at a time. The bytes are transferred and no longer usable. Rejects with the
     *  signal's reason when it fires, even while the pattern is being matched. */
    async match(request: MatchRequest): Promise<FileMatch[]> {
      const answer = once(worker, "message", { signal })
      answer.catch(() => {})
      worker.postMessage(request, request.files.flatMap(transferable))
      // This is what match-worker.ts posts.
      const [found] = (await rejectOnAbort(Promise.race([answer, failed]), signal)) as [FileMatch[]]
      return found
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

// A view of a larger buffer is copied instead.
function transferable({ bytes }: FileBytes): ArrayBuffer[] {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

const workerFile = new URL(import.meta.url.endsWith(".ts") ? "match-worker.ts" : "match-worker.js", import.meta.url)
