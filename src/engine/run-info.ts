// The short description of a run for lists, and what it has used.
import type { RunState } from "../agent/run/run-state.ts"
import type { Metadata, Pending } from "../core/event.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import { hasEnded, type RunHead, type RunStatus } from "./checkpoint.ts"

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

/** JSON, because it is part of the stored head. */
export interface RunUsage {
  cycles: number
  /** The tokens and the cost, including those of child runs. */
  usage: Usage
  /** The calls of tools, functions and guarded methods. */
  calls: number
}

/** What a run has used until its last saved cycle, or until its end. */
export function usageOfRun({ used, state }: Pick<RunHead, "used" | "state">): RunUsage {
  return used ?? usageOfState(state)
}

export function usageOfState(state: RunState | undefined): RunUsage {
  return { cycles: state?.cycle ?? 0, usage: state?.usage ?? noUsage, calls: state?.calls.total ?? 0 }
}

export interface ListFilter {
  status?: RunStatus | readonly RunStatus[] | undefined
  agent?: string | undefined
  /** The session given to `submit`. */
  session?: string | undefined
}
