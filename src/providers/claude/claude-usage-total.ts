import { glob, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Json } from "../../core/json.ts"
import type { Usage } from "../../core/usage.ts"
import { type JsonObject, numberAt, objectAt, textAt } from "../read-json.ts"
import { findInLines, readNewestLines } from "../turn/newest-lines.ts"

/** What a conversation has cost and used by now. Claude Code counts on from the total of the conversation that it resumes (since about
 *  2.1.3xx; earlier versions count from 0 in each process), and its tokens are those of all models and sub-agents. */
export interface ClaudeUsageTotal {
  costUsd: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

export const zeroTotal: ClaudeUsageTotal = { costUsd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** The total that Claude Code has written down for a conversation, which it counts on from when it resumes it. */
export async function readStoredTotal(
  session: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<ClaudeUsageTotal> {
  if (session === undefined) return zeroTotal
  const home = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), ".claude")
  try {
    const files: { path: string; at: number }[] = []
    for await (const file of glob(`projects/*/${session}.jsonl`, { cwd: home })) {
      const path = join(home, file)
      files.push({ path, at: (await stat(path)).mtimeMs })
    }
    const [newest] = files.sort((one, other) => other.at - one.at)
    if (newest) return findInLines(await readNewestLines(newest.path), "cost-state", totalInLine) ?? zeroTotal
  } catch {
    // A file that cannot be read says nothing.
  }
  return zeroTotal
}

function totalInLine(line: Json): ClaudeUsageTotal | undefined {
  if (textAt(line, "type") !== "cost-state") return undefined
  return totalOf(numberAt(line, "totalCostUSD"), objectAt(line, "modelUsage"))
}

/** The total that a `result` line reports; undefined where it has none. */
export function reportedTotal(line: JsonObject): ClaudeUsageTotal | undefined {
  return totalOf(numberAt(line, "total_cost_usd"), objectAt(line, "modelUsage"))
}

function totalOf(costUsd: number | undefined, models: JsonObject): ClaudeUsageTotal | undefined {
  const names = Object.keys(models)
  if (costUsd === undefined || names.length === 0) return undefined
  const sum = (field: string) => names.reduce((total, name) => total + (numberAt(models, name, field) ?? 0), 0)
  const [cacheRead, cacheWrite] = [sum("cacheReadInputTokens"), sum("cacheCreationInputTokens")]
  return {
    costUsd,
    input: sum("inputTokens") + cacheRead + cacheWrite,
    output: sum("outputTokens"),
    cacheRead,
    cacheWrite,
  }
}

/** What was used between two totals. A total below the earlier one is of a version that counts from 0 in each process. */
export function usageBetween(before: ClaudeUsageTotal, after: ClaudeUsageTotal): Usage {
  const from = after.input < before.input || after.output < before.output ? zeroTotal : before
  return {
    complete: true,
    input: after.input - from.input,
    output: after.output - from.output,
    cacheRead: after.cacheRead - from.cacheRead,
    cacheWrite: after.cacheWrite - from.cacheWrite,
    costUsd: Math.max(0, after.costUsd - from.costUsd),
  }
}
