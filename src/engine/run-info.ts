// The short description of a run for lists.
import type { Metadata, Pending } from "../core/event.ts"
import type { Usage } from "../core/usage.ts"
import { hasEnded, type RunHead, type RunStatus } from "./checkpoint.ts"
import { usageOfRun } from "./run-usage.ts"

/** A run as `engine.get` and `engine.list` show it. */
export interface RunInfo {
  id: string
  agent: string
  status: RunStatus
  key?: string
  session?: string
  metadata: Metadata
  /** Cycles, tokens, cost and calls are counted at the end of each cycle, and when the run ends. */
  cycles: number
  /** Tokens and cost of the run and its child runs. */
  usage: Usage
  /** How many calls of tools, functions and guarded methods it made. */
  calls: number
  createdAt: number
  updatedAt: number
  pending?: Pending
  /** Why no worker continues the run. */
  refused?: string
  /** When a run that failed with a retryable error is retried, in milliseconds since the epoch. */
  retryAt?: number
  /** How often the run was retried since its last saved cycle; absent if it was not. */
  retries?: number
}

/** `head` is the run as callers see it. */
export function runInfoOf(head: RunHead): RunInfo {
  const { id, agent, status, key, session, metadata, createdAt, updatedAt, refused, retryAt, retries, pending } = head
  return {
    id,
    agent,
    status,
    metadata,
    ...usageOfRun(head),
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
  /** The session given to `submit`. */
  session?: string | undefined
}
