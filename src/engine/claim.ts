import type { Store } from "../stores/store.ts"
import { blockedWarning, nextClaim } from "./attempts.ts"
import { changeHead, type Head, type StoredHead } from "./checkpoint.ts"
import { type InboxMessage, withMessage } from "./inbox.ts"
import { unloggedDecisions, withEvents } from "./own-events.ts"
import { isGone, type Owner } from "./owner.ts"
import type { Silence } from "./silence.ts"

export interface Claim {
  owner: Owner
  leaseMs: number
  silence: Silence
  /** The messages to the run from position `inboxFrom` on. They are stored with the claim, so that the first cycle has them. */
  inbox?: readonly InboxMessage[]
  inboxFrom?: number
  /** The run before it in its session. */
  after?: string | undefined
}

/** Takes a run that waits for a worker, or whose worker is gone; undefined where there is nothing to take. */
export function claimRun(store: Store, id: string, claim: Claim, known?: StoredHead): Promise<StoredHead | undefined> {
  const take = (found: Head) => {
    if (!isClaimable(found, claim)) return undefined
    const { after } = claim
    const head = withMessages({ ...claimed(found, claim), ...(after !== undefined && { after }) }, claim)
    const warning = blockedWarning(found, claim.owner)
    const commits = [warning && withEvents(id, [warning], (next) => next), unloggedDecisions(head)].filter(
      (each) => !!each,
    )
    return {
      head: commits.reduce((before, [next]) => next(before), head),
      changes: commits.flatMap(([, changes]) => changes),
    }
  }
  return changeHead(store, id, take, known)
}

// An abort, and what came after it, stays in the inbox: the worker reads it first.
function withMessages(head: Head, { inbox = [], inboxFrom }: Claim): Head {
  if (head.inbox !== inboxFrom) return head
  let next = head
  for (const message of inbox) {
    if (message.type === "abort") break
    next = withMessage(next, message)
  }
  return next
}

/** The head of a run that a worker has taken. */
export function claimed(head: Head, { owner, leaseMs }: { owner: Owner; leaseMs: number }): Head {
  const { refused: _, retryAt: __, ...rest } = head
  const claim = nextClaim(head, owner, leaseMs)
  // A worker that stops in order gives the run back first. Before the first checkpoint the model was not asked.
  const interrupted = head.status === "running" && head.state && ({ interrupted: true } as const)
  return { ...rest, ...interrupted, status: "running", ...claim, fence: head.fence + 1, updatedAt: Date.now() }
}

/** Whether a worker may take a run. It may always take one that it holds itself: it asks only for runs that it does not
 *  work on. */
export function isClaimable(head: Head, { owner, silence }: { owner?: Owner; silence: Silence }): boolean {
  const { status, lease } = head
  if (status === "queued") return (head.retryAt ?? 0) <= Date.now()
  if (status !== "running") return false
  return !lease || lease.owner.id === owner?.id || isGone(lease.owner) || silence.of(head) >= lease.forMs
}
