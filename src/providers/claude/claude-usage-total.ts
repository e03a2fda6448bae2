// Reads the total usage and cost of a Claude Code conversation, to compute the usage of one turn.
import { glob, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Json } from "../../core/json.ts"
import type { Usage } from "../../core/usage.ts"
import { type JsonObject, numberAt, objectAt, textAt } from "../read-json.ts"
import { findInLines, readNewestLines } from "../turn/newest-lines.ts"

/** The usage and cost of a conversation so far, of all models and sub-agents. Since about 2.1.3xx Claude Code continues
 *  to count from the total of the conversation it resumes; earlier versions count from 0 in each process. */
export interface ClaudeUsageTotal {
  costUsd: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

export const zeroTotal: ClaudeUsageTotal = { costUsd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** The total that Claude Code has stored for a conversation. */
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
    // An unreadable file counts as no total.
  }
  return zeroTotal
}

function totalInLine(line: Json): ClaudeUsageTotal | undefined {
  if (textAt(line, "type") !== "cost-state") return undefined
  return totalOf(numberAt(line, "totalCostUSD"), objectAt(line, "modelUsage"))
}

/** The total in a `result` line; undefined if it has none. */
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

/** The usage between two totals. If tokens decreased, the CLI counts from 0 in each process. */
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
