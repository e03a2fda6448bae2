// Reads the usage and model that Codex has stored for a thread.
import { glob } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Json } from "../../core/json.ts"
import { objectAt, textAt } from "../read-json.ts"
import { findInLines, readNewestLines } from "../turn/newest-lines.ts"
import { type ThreadUsage, threadUsage } from "./codex-parser.ts"

/** Undefined values are not known. */
export interface StoredThread {
  /** True if the thread has a file. */
  found: boolean
  /** The usage so far. */
  usage?: ThreadUsage | undefined
  model?: string | undefined
}

export async function readStoredThread(thread: string, env: Readonly<Record<string, string>>): Promise<StoredThread> {
  const home = env.CODEX_HOME ?? join(env.HOME ?? homedir(), ".codex")
  try {
    for await (const file of glob(`sessions/*/*/*/rollout-*${thread}.jsonl`, { cwd: home })) {
      const lines = await readNewestLines(join(home, file))
      return {
        found: true,
        usage: findInLines(lines, "token_count", usageIn),
        model: findInLines(lines, "turn_context", modelIn),
      }
    }
  } catch {
    // An unreadable file counts as not found.
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
