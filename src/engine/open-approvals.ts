// The approvals that a run waits for, and the run as callers see it while a worker holds its call for an answer.
import type { Pending } from "../core/event.ts"
import type { Store } from "../stores/store.ts"
import type { RunHead, StoredApproval, StoredRunHead } from "./checkpoint.ts"
import { applyMessage, readInboxMessages } from "./run/run-inbox.ts"

/** The requests that wait for an answer: of a run without a worker, or of the calls that its worker holds. */
export function openApprovals({ status, asked, fence }: RunHead): StoredApproval[] {
  if (status !== "waiting" && status !== "running") return []
  return asked.filter(({ decision, claim }) => decision === undefined && (status === "waiting" || claim === fence))
}

/** The run as callers see it. While a call is held for approval the run is `waiting`, although it has a worker. An
 *  answer counts as soon as it is in the inbox. */
export async function viewRun(store: Store, { head, revision }: StoredRunHead): Promise<StoredRunHead> {
  if (openApprovals(head).length === 0) return { head, revision }
  const answered = await withAnswersInInbox(store, head)
  const [first] = openApprovals(answered)
  const { pending: _, ...rest } = answered
  if (first) return { head: { ...rest, status: "waiting", pending: pendingApproval(first) }, revision }
  return { head: { ...rest, status: head.status === "waiting" ? "queued" : "running" }, revision }
}

async function withAnswersInInbox(store: Store, head: RunHead): Promise<RunHead> {
  const messages = await readInboxMessages(store, head.id, head.inbox)
  return messages.reduce((next, message) => (message.type === "decision" ? applyMessage(next, message) : next), head)
}

export function pendingApproval({ id, call }: StoredApproval): Pending {
  return { kind: "approval", id, call }
}
