// The budget of a session: limits of all its runs together, counted from the events of the session.
import type { RunResult, SessionBudget } from "../core/agent.ts"
import * as check from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import type { AgentEvent } from "../core/event.ts"
import { withoutUndefined } from "../core/object.ts"
import { createOwnEventFilter } from "../core/trajectory.ts"
import { addUsage, noUsage, totalTokens, type Usage } from "../core/usage.ts"

const { cycles, tokens, uncachedTokens, costUsd } = limitChecks
const budgetChecks: check.OptionChecks<SessionBudget> = { cycles, tokens, uncachedTokens, costUsd }
export const mustBeBudget = check.mustBeOptions(budgetChecks)

export interface BudgetCounter {
  /** What the next run may use: the limits of the budget, less what was used. */
  left(): SessionBudget
  /** Counts an ended run. */
  add(result: Pick<RunResult, "cycles" | "usage">): void
}

/** Counts what the runs of a session use, from its past on. */
export function createBudgetCounter(budget: SessionBudget, past: readonly AgentEvent[]): BudgetCounter {
  let cycles = 0
  let usage: Usage = noUsage
  const counter: BudgetCounter = {
    left() {
      const tokens = totalTokens(usage) ?? 0
      return withoutUndefined({
        cycles: rest(budget.cycles, cycles),
        tokens: rest(budget.tokens, tokens),
        uncachedTokens: rest(budget.uncachedTokens, tokens - (usage.cacheRead ?? 0)),
        costUsd: rest(budget.costUsd, usage.costUsd ?? 0),
      })
    },
    add(ended) {
      cycles += ended.cycles
      usage = addUsage(usage, ended.usage)
    },
  }
  const isOwn = createOwnEventFilter()
  for (const event of past) if (isOwn(event) && event.type === "run-end") counter.add(event)
  return counter
}

function rest(limit: number | undefined, used: number): number | undefined {
  return limit === undefined ? undefined : Math.max(0, limit - used)
}
