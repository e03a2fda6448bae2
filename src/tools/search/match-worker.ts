// The worker thread of `search_files`: searches files with one regular expression.
import { parentPort, workerData } from "node:worker_threads"
import { type FileMatch, type MatchOptions, matchFile } from "./match-lines.ts"
import type { MatchRequest } from "./matcher.ts"

// Passed by `startMatcher`.
const options: MatchOptions = workerData
const regex = new RegExp(options.source, options.isMultiline ? `g${options.flags}` : options.flags)

parentPort?.on("message", ({ files, maxResults }: MatchRequest) => {
  const found: FileMatch[] = []
  let left = maxResults
  for (const { path, bytes } of files) {
    const match = matchFile(path, bytes, regex, options, left)
    if (!match) continue
    found.push(match)
    left -= options.mode === "content" ? match.rows.length : 1
    if (left <= 0) break
  }
  parentPort?.postMessage(found)
})
