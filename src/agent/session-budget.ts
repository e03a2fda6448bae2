// The budget of a session: limits of all its runs together, and what is left of them.
import type { Limits, RunResult, SessionBudget } from "../core/agent.ts"
import * as check from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import type { AgentEvent } from "../core/event.ts"
import { withoutUndefined } from "../core/object.ts"
import { createOwnEventFilter } from "../core/trajectory.ts"
import { addUsage, noUsage, totalTokens, type Usage } from "../core/usage.ts"

const { cycles, tokens, uncachedTokens, costUsd } = limitChecks
const budgetChecks: check.OptionChecks<SessionBudget> = { cycles, tokens, uncachedTokens, costUsd }
export const mustBeBudget = check.mustBeOptions(budgetChecks)

/** What runs of a session have used together. */
export interface SessionUsage {
  cycles: number
  usage: Usage
}

/** The limits of the budget, less what was used. */
export function budgetLeft(budget: SessionBudget, { cycles, usage }: SessionUsage): SessionBudget {
  const tokens = totalTokens(usage) ?? 0
  return withoutUndefined({
    cycles: rest(budget.cycles, cycles),
    tokens: rest(budget.tokens, tokens),
    uncachedTokens: rest(budget.uncachedTokens, tokens - (usage.cacheRead ?? 0)),
    costUsd: rest(budget.costUsd, usage.costUsd ?? 0),
  })
}

export function addSessionUsage(one: SessionUsage, other: SessionUsage): SessionUsage {
  return { cycles: one.cycles + other.cycles, usage: addUsage(one.usage, other.usage) }
}

export const noSessionUsage: SessionUsage = Object.freeze({ cycles: 0, usage: noUsage })

/** The limits of the next run. Without a limit of its own, `cycles` would have the default of a run. */
export function limitsFromBudget(left: SessionBudget): Limits {
  return { cycles: Infinity, ...left }
}

export interface BudgetCounter {
  /** What the next run may use: the limits of the budget, less what was used. */
  left(): SessionBudget
  /** Counts an ended run. */
  add(result: Pick<RunResult, "cycles" | "usage">): void
}

/** Counts what the runs of a session use, from its past events on. */
export function createBudgetCounter(budget: SessionBudget, past: readonly AgentEvent[]): BudgetCounter {
  let used = noSessionUsage
  const counter: BudgetCounter = {
    left: () => budgetLeft(budget, used),
    add(ended) {
      used = addSessionUsage(used, ended)
    },
  }
  const isOwn = createOwnEventFilter()
  for (const event of past) if (isOwn(event) && event.type === "run-end") counter.add(event)
  return counter
}

function rest(limit: number | undefined, used: number): number | undefined {
  return limit === undefined ? undefined : Math.max(0, limit - used)
}
