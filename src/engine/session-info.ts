// A session as callers see it: its queue, and what its runs have used of its budget.
import { addSessionUsage, budgetLeft, noSessionUsage, type SessionUsage } from "../agent/session-budget.ts"
import type { QueuedRun, SessionBudget } from "../core/agent.ts"
import type { UserMessage } from "../core/message.ts"
import type { Store } from "../stores/store.ts"
import { hasEnded, type RunHead, runKeys } from "./checkpoint.ts"
import { usageOfRun } from "./run-info.ts"
import { previousRun, readQueue } from "./session-queue.ts"

export interface SessionQueue {
  /** The id of the run that is running, or waits for an answer or an approval. */
  running: string | undefined
  /** The runs that have not begun, in the order in which they will run. */
  pending: QueuedRun[]
  /** What later runs may still use of the session's budget; absent without a budget. */
  budgetLeft?: SessionBudget
}

export async function readSessionQueue(store: Store, agent: string, session: string): Promise<SessionQueue> {
  const { before, pending } = await readQueue(store, agent, session)
  const runs = pending.map(async ({ head: { id } }): Promise<QueuedRun> => {
    // Only the engine writes this key.
    const input = (await store.get(runKeys(id).input))?.value as unknown as UserMessage | undefined
    return { id, prompt: (input?.parts ?? []).filter((part) => part.type !== "summary") }
  })
  const next = pending[0] ? await readSessionStart(store, pending[0].head) : before && (await startAfter(store, before))
  return {
    running: before && !hasEnded(before) ? before.id : undefined,
    pending: await Promise.all(runs),
    ...(next?.budget && { budgetLeft: budgetLeft(next.budget, next.usedBefore) }),
  }
}

/** What a run of a session begins with. A run stores it with its first checkpoint, so that later runs need not read all
 *  earlier ones. */
export interface SessionStart {
  /** What the earlier runs of the session have used. */
  usedBefore: SessionUsage
  /** The budget given with the run, or else that of the run before. */
  budget?: SessionBudget
}

/** Reads what a run begins with; undefined if it belongs to no session. */
export async function readSessionStart(store: Store, head: RunHead): Promise<SessionStart | undefined> {
  if (head.session === undefined) return undefined
  let { budget } = head
  let usedBefore = noSessionUsage
  for (let each: RunHead | undefined = head; each; ) {
    budget ??= each.budget
    if (each.usedBefore) {
      usedBefore = addSessionUsage(usedBefore, each.usedBefore)
      break
    }
    each = await previousRun(store, each)
    if (each) usedBefore = addSessionUsage(usedBefore, sessionUsageOf(each))
  }
  return { usedBefore, ...(budget && { budget }) }
}

/** What the run after this one would begin with. */
async function startAfter(store: Store, head: RunHead): Promise<SessionStart | undefined> {
  const start = await readSessionStart(store, head)
  return start && { ...start, usedBefore: addSessionUsage(start.usedBefore, sessionUsageOf(head)) }
}

function sessionUsageOf(head: RunHead): SessionUsage {
  const { cycles, usage } = usageOfRun(head)
  return { cycles, usage }
}
