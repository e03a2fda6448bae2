// Claims a run for a worker.
import type { Store } from "../../stores/store.ts"
import { type RunHead, type StoredRunHead, updateHead } from "../checkpoint.ts"
import { blockedWorkerWarning, nextClaim } from "./claim-attempts.ts"
import { commitWithEvents, seqAfterCrash, unloggedDecisionsCommit } from "./engine-events.ts"
import type { LeaseObserver } from "./lease-observer.ts"
import { applyMessage, type InboxMessage } from "./run-inbox.ts"
import { isOwnerGone, type Owner } from "./run-owner.ts"

export interface Claim {
  owner: Owner
  leaseMs: number
  leaseObserver: LeaseObserver
  /** The messages to the run from position `inboxFrom` on. They are stored with the claim, so that the first cycle has
   *  them. */
  inbox?: readonly InboxMessage[]
  inboxFrom?: number
  /** The previous run of its session. */
  after?: string | undefined
}

/** Claims a run that waits for a worker, or whose worker is gone; resolves to undefined if it cannot be claimed. */
export function claimRun(
  store: Store,
  id: string,
  claim: Claim,
  known?: StoredRunHead,
): Promise<StoredRunHead | undefined> {
  const take = (found: RunHead) => {
    if (!isClaimable(found, claim)) return undefined
    const { after } = claim
    const head = applyMessages({ ...claimedHead(found, claim), ...(after !== undefined && { after }) }, claim)
    const warning = blockedWorkerWarning(found, claim.owner)
    const commits = [warning && commitWithEvents(id, [warning], (next) => next), unloggedDecisionsCommit(head)].filter(
      (each) => !!each,
    )
    return {
      head: commits.reduce((before, [next]) => next(before), head),
      changes: commits.flatMap(([, changes]) => changes),
    }
  }
  return updateHead(store, id, take, known)
}

// An abort and the messages after it stay in the inbox: the worker reads the abort first.
function applyMessages(head: RunHead, { inbox = [], inboxFrom }: Claim): RunHead {
  if (head.inbox !== inboxFrom) return head
  let next = head
  for (const message of inbox) {
    if (message.type === "abort") break
    next = applyMessage(next, message)
  }
  return next
}

/** The head of a run after a worker has claimed it. */
export function claimedHead(head: RunHead, { owner, leaseMs }: { owner: Owner; leaseMs: number }): RunHead {
  const { refused: _, retryAt: __, ...rest } = head
  const claim = nextClaim(head, owner, leaseMs)
  // A run that is still `running` lost its worker in a cycle. Before the first checkpoint no model was called, so
  // nothing was interrupted.
  const interrupted = head.status === "running" &&
    head.state && { interrupted: true as const, seq: seqAfterCrash(head) }
  return { ...rest, ...interrupted, status: "running", ...claim, fence: head.fence + 1, updatedAt: Date.now() }
}

/** Returns true if a worker may claim the run. It may always claim a run of its own lease, because it asks only for
 *  runs that it is not executing. */
export function isClaimable(
  head: RunHead,
  { owner, leaseObserver }: { owner?: Owner; leaseObserver: LeaseObserver },
): boolean {
  const { status, lease } = head
  if (status === "queued") return (head.retryAt ?? 0) <= Date.now()
  if (status !== "running") return false
  return (
    !lease || lease.owner.id === owner?.id || isOwnerGone(lease.owner) || leaseObserver.silentFor(head) >= lease.forMs
  )
}
