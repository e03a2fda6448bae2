// The approvals that a run waits for.
import type { Pending } from "../core/event.ts"
import type { RunHead, StoredApproval } from "./checkpoint.ts"

/** The requests that wait for an answer: of a run without a worker, or of the calls that its worker holds. */
export function openApprovals({ status, asked, fence }: RunHead): StoredApproval[] {
  if (status !== "waiting" && status !== "running") return []
  return asked.filter(({ decision, claim }) => decision === undefined && (status === "waiting" || claim === fence))
}

export function pendingApproval({ id, call }: StoredApproval): Pending {
  return { kind: "approval", id, call }
}
