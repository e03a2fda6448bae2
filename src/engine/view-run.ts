// A run as callers see it while a worker holds one of its calls for approval.
import type { Store } from "../stores/store.ts"
import type { RunHead, StoredRunHead } from "./checkpoint.ts"
import { openApprovals, pendingApproval } from "./open-approvals.ts"
import { applyMessage, readInboxMessages } from "./run/run-inbox.ts"

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
