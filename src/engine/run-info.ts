import type { Metadata, Pending } from "../core/event.ts"
import { hasEnded, type RunHead, type RunStatus } from "./checkpoint.ts"

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
  /** When a run that failed with a retryable error is tried again, in milliseconds since the epoch. */
  retryAt?: number
  /** How often it was tried again since its last saved cycle; absent where it was not. */
  retries?: number
}

export function runInfoOf(head: RunHead): RunInfo {
  const { id, agent, status, key, session, metadata, createdAt, updatedAt, refused, retryAt, retries } = head
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
    ...(retryAt !== undefined && { retryAt }),
    ...(retries && { retries: retries.count }),
  }
}

export interface ListFilter {
  status?: RunStatus | readonly RunStatus[] | undefined
  agent?: string | undefined
  /** The name that `submit` was given for the session. */
  session?: string | undefined
}
