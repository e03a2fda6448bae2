// The checkpoint of a run: its head, the keys of its records, and how heads are read, changed and listed.
import type { ConversationHead } from "../agent/conversation/restore-conversation.ts"
import type { RunState } from "../agent/run/run-state.ts"
import type { SessionUsage } from "../agent/session-budget.ts"
import type { Decision, SessionBudget } from "../core/agent.ts"
import { AgentError, ConfigError, ConflictError } from "../core/errors.ts"
import type { CallPreview, Status } from "../core/event.ts"
import { asJson } from "../core/json.ts"
import type { RuntimeSnapshot } from "../runtime/runtime.ts"
import type { Store, StoreChange } from "../stores/store.ts"
import { corruptError } from "../stores/store-errors.ts"
import { createErrorReporter } from "./backends/error-reporter.ts"
import { openApprovals } from "./open-approvals.ts"
import type { AgentDefinition } from "./run/agent-definition.ts"
import type { Attempts } from "./run/claim-attempts.ts"
import type { Owner } from "./run/run-owner.ts"
import type { RunInfo, RunUsage } from "./run-info.ts"
import type { Retries } from "./run-retries.ts"

export type RunStatus = Status | "queued" | "running"

export const runStatuses: readonly RunStatus[] = [
  "queued",
  "running",
  "waiting",
  "done",
  "stopped",
  "aborted",
  "failed",
]

/** The head of a run: a small JSON record with everything that changes at each step. The messages are in the log of
 *  events; the calls of the cycle under way are in the journal. */
export interface RunHead
  extends Omit<RunInfo, keyof RunUsage | "retryAt" | "retries">,
    Omit<ConversationHead, "approved" | "steered" | "memory" | "tools"> {
  /** The previous run of its session. Until the run has begun, its position in the queue may name another. */
  after?: string
  /** True if a run of its session had not ended when it was submitted. It is held back if that run fails or is
   *  aborted. */
  isQueued?: boolean
  /** The budget of its session: as given to `submit`, or from the first checkpoint on that of the run before. */
  budget?: SessionBudget
  /** What the earlier runs of its session have used. Absent before the first checkpoint. */
  usedBefore?: SessionUsage
  /** Absent until the run has begun. */
  state?: RunState
  /** The run that stores the folded conversation up to itself. */
  folded?: string
  /** Texts of the user that the model has not received. */
  unheard: string[]
  /** How many events are stored, and the number of the next. */
  stored: number
  seq: number
  /** Where the journal of the cycle under way begins. */
  journal: number
  /** How many messages of the inbox were processed. */
  inbox: number
  snapshot?: SnapshotInfo
  definition?: AgentDefinition
  /** The calls that wait for approval, and those answered since. */
  asked: StoredApproval[]
  lease?: Lease
  /** Counts up with each claim. */
  fence: number
  /** The randomness of cells and the idempotency keys of calls derive from it. */
  seed: string
  /** Set after a worker died in the middle of a cycle, until a cycle that reports this to the model is saved. */
  interrupted?: true
  /** The claims since the last saved cycle; absent if there were none before the current one. */
  attempts?: Attempts
  /** The retries since the last saved cycle. */
  retries?: Retries
  /** No worker takes the run before this time, in milliseconds since the epoch. */
  retryAt?: number
  /** In a failed or aborted run: what it used, if `state` does not say it. A retry ignores it. */
  used?: RunUsage
  /** In a failed run: where the failed cycle begins in the log of events. */
  failedFrom?: number
  /** In a failed run: what the failed cycle leaves to later runs of the session. A retry ignores it. */
  failedWith?: Pick<ConversationHead, "approved" | "tools" | "artifacts">
  /** Ranges of the log of events that do not belong to the conversation: cycles that failed before a retry. */
  skipped?: [from: number, to: number][]
}

export interface Lease {
  owner: Owner
  /** How long the owner may give no sign of life before another worker takes the run. */
  forMs: number
}

export interface StoredApproval {
  key: string
  id: string
  /** The claim (`fence`) of the worker that requested it. Until another worker requests it again, it is not open. */
  claim: number
  call: CallPreview
  /** Shown with the request. */
  reason?: string
  decision?: Decision
  /** When it is denied if there is no answer, in milliseconds since the epoch. */
  expiresAt?: number
  /** Set if no answer came in time: the decision is then `deny`. */
  expired?: true
  /** Set once the log has the event of the request, and of the decision if there is one. */
  logged?: true
}

/** Describes the stored bytes of a snapshot. */
export interface SnapshotInfo extends Pick<RuntimeSnapshot, "hash" | "since" | "language" | "lost"> {
  /** False if the snapshot was too large or failed, so that no bytes are stored. */
  kept: boolean
}

export interface StoredRunHead {
  head: RunHead
  revision: number
}

export const runKeys = (id: string) => ({
  head: `runs/${id}`,
  input: `runs/${id}/input`,
  events: `runs/${id}/events`,
  journal: `runs/${id}/journal`,
  inbox: `runs/${id}/inbox`,
  snapshot: `runs/${id}/snapshot`,
  /** The prefix of the keys of its artifacts. */
  artifacts: `runs/${id}/artifacts/`,
  /** The changes since that snapshot. */
  snapshotChanges: `runs/${id}/snapshot-changes`,
  /** The conversation up to this run, in folded form. */
  conversation: `runs/${id}/conversation`,
  /** The options of `submit` for the run. */
  options: `runs/${id}/options`,
  /** The declared outputs of a run that has ended. */
  objects: `runs/${id}/objects`,
  /** The position of a queued run in its session, if that has changed since it was submitted. */
  place: `runs/${id}/place`,
  /** The next run of its session. */
  next: `runs/${id}/next`,
  /** A log that grows when the run ends or begins to wait, and with each further approval that it waits for.
   *  `result` and `abort` watch only this log. */
  rests: `runs/${id}/rests`,
  /** The events of the cycle under way until its last approval request, while it is held. */
  unsaved: `runs/${id}/unsaved`,
})

/** A key whose revision changes when any process queues a run. */
export const queuedMarkerKey = "queued"

/** The key of the whole text of a call that waits for approval. */
export const pendingCallKey = (run: string, call: string) => `runs/${run}/calls/${call}`

// Names are escaped, because a slash in one would make it look like another.
export const submitKeyKey = (agent: string, key: string) => `keys/${encodeURIComponent(agent)}/${key}`

/** The key that holds the id of the last run of a session. */
export const sessionKey = (agent: string, session: string) => `sessions/${encodeURIComponent(agent)}/${session}`

export async function readHead(store: Store, id: string): Promise<StoredRunHead | undefined> {
  if (!isRunId(id)) throw new ConfigError(`${JSON.stringify(id)} is not the id of a run. submit gives the ids of runs.`)
  const entry = await store.get(runKeys(id).head)
  if (!entry) return undefined
  const head = entry.value as unknown as Partial<RunHead> | null
  if (head === null || typeof head !== "object" || typeof head.version !== "number")
    throw damagedRunError(id, "it is no head")
  if (head.version !== 1) {
    throw new AgentError(`Run ${id} was saved by another version of Karst (${head.version}). Go on with it there.`, {
      code: "version",
    })
  }
  if (head.id !== id || !runStatuses.includes(head.status ?? "queued") || !Array.isArray(head.asked)) {
    throw damagedRunError(id, "its head is of another run, or not whole")
  }
  return { head: head as RunHead, revision: entry.revision }
}

const isRunId = (id: string) => typeof id === "string" && /^[\w.-]{1,200}$/.test(id)

/** The error for records that are not as the engine wrote them. */
export function damagedRunError(id: string, what: string): AgentError {
  return corruptError(`What is stored of run ${id}`, what, "Restore the store from a backup, or delete its records.")
}

/** The changes that store a head, including its entry in the lists by status. */
export function headChanges(next: RunHead, before?: RunHead): StoreChange[] {
  const keys = runKeys(next.id)
  const changes: StoreChange[] = [{ type: "put", key: keys.head, value: asJson(next) }]
  const known = new Set(before && openApprovals(before).map(({ id }) => id))
  const isAskedMore = openApprovals(next).some(({ id }) => !known.has(id))
  if (!isUnderWay(next) || next.refused !== before?.refused || isAskedMore) {
    changes.push({ type: "append", log: keys.rests, items: [next.status] })
  }
  if (before && before.asked.length > 0 && (next.stored !== before.stored || next.fence !== before.fence)) {
    changes.push({ type: "delete", key: keys.unsaved })
  }
  // The journal holds the results of calls. After the end only a retry of a failed run needs it.
  if (hasEnded(next) && next.status !== "failed") changes.push({ type: "delete", key: keys.journal })
  const waiting = new Set(hasEnded(next) ? [] : next.asked.filter(isUndecided).map(({ id }) => id))
  for (const { id } of before?.asked.filter(isUndecided) ?? []) {
    if (!waiting.has(id)) changes.push({ type: "delete", key: pendingCallKey(next.id, id) })
  }
  // Written whenever a run begins to wait for a worker: `pollForQueuedRuns` reads it.
  if (next.status === "queued" && before?.status !== "queued") {
    changes.push({ type: "put", key: queuedMarkerKey, value: true })
  }
  const lists = statusListKeys(next)
  const listedBefore = before ? statusListKeys(before) : []
  for (const key of listedBefore) if (!lists.includes(key)) changes.push({ type: "delete", key })
  for (const key of lists) if (!listedBefore.includes(key)) changes.push({ type: "put", key, value: next.createdAt })
  return changes
}

const isUndecided = ({ decision }: StoredApproval) => decision === undefined

/** The key under which a run is listed: by its status, except that queued and running runs share one list. */
export function statusListKey(status: RunStatus, id: string): string {
  return `status/${status === "queued" || status === "running" ? "under-way" : status}/${id}`
}

// A worker has a run whose call is held for approval, so it is listed as under way; callers see it as waiting.
function statusListKeys(head: RunHead): string[] {
  const isHeld = head.status === "running" && openApprovals(head).length > 0
  return [statusListKey(head.status, head.id), ...(isHeld ? [statusListKey("waiting", head.id)] : [])]
}

/** Yields the runs that have one of these statuses. A run that cannot be read is reported once and left out. `view`
 *  returns the run whose status counts. Default: as it is stored. */
export async function* listRuns(
  store: Store,
  statuses: readonly RunStatus[],
  view: (found: StoredRunHead) => Promise<StoredRunHead> = async (found) => found,
): AsyncGenerator<StoredRunHead> {
  const listed = new Set<string>()
  for (const list of new Set(statuses.map((status) => statusListKey(status, "")))) {
    for await (const key of store.keys(list)) {
      const found = await readHead(store, key.slice(list.length)).catch(reportUnreadable)
      const seen = found && (await view(found))
      if (!seen || listed.has(seen.head.id) || !statuses.includes(seen.head.status)) continue
      listed.add(seen.head.id)
      yield seen
    }
  }
}

const report = createErrorReporter("engine", {})

function reportUnreadable(error: unknown): undefined {
  if (!(error instanceof AgentError) || (error.code !== "version" && error.code !== "corrupt")) throw error
  report(error)
}

/** Changes a head that no worker holds; returns undefined if `change` returns nothing. Repeats after a conflict.
 *  `known` is the head as it was just read. */
export async function updateHead(
  store: Store,
  id: string,
  change: (head: RunHead) => { head: RunHead; changes?: StoreChange[] } | undefined,
  known?: StoredRunHead,
): Promise<StoredRunHead | undefined> {
  for (let found = known; ; found = undefined) {
    found ??= await readHead(store, id)
    if (!found) return undefined
    const changed = change(found.head)
    if (!changed) return undefined
    const changes = [...(changed.changes ?? []), ...headChanges(changed.head, found.head)]
    try {
      const guard = { key: runKeys(id).head, ifRevision: found.revision }
      const revision = await store.commit(changes, guard, { evenIfFull: hasEnded(changed.head) })
      return { head: changed.head, revision }
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

export const hasEnded = ({ status }: RunHead) => ["done", "stopped", "aborted", "failed"].includes(status)

export const isUnderWay = ({ status }: RunHead) => status === "queued" || status === "running"
