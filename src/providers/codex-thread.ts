import { glob, open } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Json } from "../core/json.ts"
import { type ThreadUsage, threadUsage } from "./codex-events.ts"
import { objectAt, textAt } from "./read-json.ts"

// Its last lines are enough.
const tailBytes = 512 * 1024

/** What Codex has written down of a thread, whoever has gone on with it meanwhile. What is undefined is not known. */
export interface ThreadFacts {
  /** Whether it has a file at all. */
  found: boolean
  /** What it has used so far. */
  usage?: ThreadUsage | undefined
  model?: string | undefined
}

export async function readThread(thread: string, env: Readonly<Record<string, string>>): Promise<ThreadFacts> {
  const home = env.CODEX_HOME ?? join(env.HOME ?? homedir(), ".codex")
  try {
    for await (const file of glob(`sessions/*/*/*/rollout-*${thread}.jsonl`, { cwd: home })) {
      const lines = (await readTail(join(home, file))).split("\n").reverse()
      return { found: true, usage: last(lines, "token_count", usageIn), model: last(lines, "turn_context", modelIn) }
    }
  } catch {
    // A file that cannot be read says nothing.
  }
  return { found: false }
}

function usageIn(line: Json): ThreadUsage | undefined {
  if (textAt(line, "payload", "type") !== "token_count") return undefined
  return threadUsage(objectAt(line, "payload", "info", "total_token_usage"))
}

function modelIn(line: Json): string | undefined {
  return textAt(line, "type") === "turn_context" ? textAt(line, "payload", "model") : undefined
}

/** What the last line says that says something. */
function last<T>(newestFirst: readonly string[], about: string, read: (line: Json) => T | undefined): T | undefined {
  for (const line of newestFirst) {
    if (!line.includes(about)) continue
    try {
      const found = read(JSON.parse(line))
      if (found !== undefined) return found
    } catch {
      // The first line may be cut.
    }
  }
  return undefined
}

async function readTail(path: string): Promise<string> {
  await using file = await open(path)
  const { size } = await file.stat()
  const start = Math.max(0, size - tailBytes)
  const buffer = Buffer.alloc(size - start)
  await file.read(buffer, 0, buffer.length, start)
  return buffer.toString("utf8")
}
