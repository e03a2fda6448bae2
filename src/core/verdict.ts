// The result of checking a finished run, used by `verify` and evals.
import { AgentError } from "./errors.ts"

export interface Verdict {
  pass: boolean
  /** From 0 to 1. */
  score: number
  reason?: string
}

/** What a check may return: pass or fail, a score from 0 to 1, or an object with either and a reason. */
export type Judgement = boolean | number | { pass?: boolean; score?: number; reason?: string }

/** Converts a judgement to a verdict. Without `pass`, only a score of 1 passes. Without `score`, passing is 1 and
 *  failing is 0. */
export function toVerdict(judgement: unknown): Verdict {
  if (typeof judgement === "boolean") return { pass: judgement, score: judgement ? 1 : 0 }
  if (isScore(judgement)) return { pass: judgement === 1, score: judgement }
  if (typeof judgement !== "object" || judgement === null) throw invalidVerdictError(judgement)
  const { pass, score, reason }: { pass?: unknown; score?: unknown; reason?: unknown } = judgement
  if (pass === undefined && score === undefined) throw invalidVerdictError(judgement)
  if ((pass !== undefined && typeof pass !== "boolean") || (score !== undefined && !isScore(score))) {
    throw invalidVerdictError(judgement)
  }
  const passed = pass ?? score === 1
  return { pass: passed, score: score ?? (passed ? 1 : 0), ...(reason !== undefined && { reason: String(reason) }) }
}

function isScore(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1
}

function invalidVerdictError(judgement: unknown): AgentError {
  const shown = typeof judgement === "object" ? JSON.stringify(judgement) : String(judgement)
  return new AgentError(
    `A check answered ${shown}. It should answer true or false, a score from 0 to 1, or { pass?, score?, reason? }.`,
    { code: "invalid-verdict" },
  )
}
