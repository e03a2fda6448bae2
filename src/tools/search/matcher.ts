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
  /** How many results are still wanted: rows, or files. */
  maxResults: number
}

/** Searches texts in a thread of its own. */
export interface Matcher extends AsyncDisposable {
  /** One request at a time. The bytes are gone afterwards. Rejects with the reason of the signal when it fires, whatever the pattern is
   *  at. */
  match(request: MatchRequest): Promise<FileMatch[]>
}

export function startMatcher(options: MatchOptions, signal: AbortSignal): Matcher {
  const worker = new Worker(workerFile, {
    workerData: options,
    // It needs neither the secrets nor the flags of this process.
    env: {},
    execArgv: [],
  })
  // What goes wrong between two requests is told at the next.
  const failed = new Promise<never>((_, reject) => worker.once("error", reject))
  failed.catch(() => {})
  return {
    async match(request) {
      const answer = once(worker, "message", { signal })
      answer.catch(() => {})
      worker.postMessage(request, request.files.flatMap(transferable))
      // What the worker sends is what `worker.ts` posts.
      const [found] = (await rejectOnAbort(Promise.race([answer, failed]), signal)) as [FileMatch[]]
      return found
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

// Bytes that are a part of something else are copied.
function transferable({ bytes }: FileBytes): ArrayBuffer[] {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

const workerFile = new URL(import.meta.url.endsWith(".ts") ? "worker.ts" : "worker.js", import.meta.url)
