import type { Metadata, Pending } from "../core/event.ts"
import { type Head, hasEnded, type RunStatus } from "./checkpoint.ts"

/** A run, for lists. */
export interface RunInfo {
  id: string
  agent: string
  status: RunStatus
  key?: string
  session?: string
  metadata: Metadata
  cycles: number
  createdAt: number
  updatedAt: number
  pending?: Pending
  /** Why no worker goes on with it. */
  refused?: string
}

export function infoOf(head: Head): RunInfo {
  const { id, agent, status, key, session, metadata, createdAt, updatedAt, refused } = head
  const asked = head.asked.find(({ decision }) => decision === undefined)
  const pending: Pending | undefined = head.pending ?? (asked && { kind: "approval", id: asked.id, call: asked.call })
  return {
    id,
    agent,
    status,
    metadata,
    cycles: head.state?.cycle ?? 0,
    createdAt,
    updatedAt,
    ...(key !== undefined && { key }),
    ...(session !== undefined && { session }),
    ...(pending && !hasEnded(head) && { pending }),
    ...(refused !== undefined && { refused }),
  }
}

export interface ListFilter {
  status?: RunStatus | readonly RunStatus[] | undefined
  agent?: string | undefined
}
