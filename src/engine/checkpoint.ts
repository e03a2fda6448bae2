import type { ConversationHead } from "../agent/conversation/restore-conversation.ts"
import type { RunState } from "../agent/run/run-state.ts"
import type { Decision } from "../core/agent.ts"
import { AgentError, ConfigError, ConflictError } from "../core/errors.ts"
import type { CallPreview, Metadata, Pending, Status } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { Runtime, RuntimeLoss } from "../runtime/runtime.ts"
import type { Store, StoreChange } from "../stores/store.ts"
import { corruptError } from "../stores/store-errors.ts"
import type { ArtifactCounts } from "../tools/artifacts.ts"
import { createErrorReporter } from "./backends/error-reporter.ts"
import type { AgentDefinition } from "./run/agent-definition.ts"
import type { Attempts } from "./run/claim-attempts.ts"
import type { Owner } from "./run/run-owner.ts"
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

/** The small head of a run in a store, JSON: everything that changes with each step. What was said is in the log of
 *  events; what the cycle under way has done, in the journal. */
export interface RunHead {
  version: 1
  id: string
  agent: string
  key?: string
  session?: string
  /** The run of the same session before it. Until the run has begun, its place in the queue may name another. */
  after?: string
  /** Whether a run of its session had not ended when it was submitted. It is then held back where that run fails or is aborted. */
  isQueued?: boolean
  status: RunStatus
  /** Absent until the run has begun. */
  state?: RunState
  /** The run with the folded form of the conversation, as of that run. */
  folded?: string
  /** The run whose first event has the system prompt. */
  systemRun?: string
  /** Identifies the definition of the agent that this prompt was written for. */
  promptHash?: string
  /** The names the model was told about. */
  told: string[]
  /** The names that it was told are lost; absent where none is. */
  gone?: string[]
  /** The last numbers of the artifacts of the conversation; absent where it has none. */
  artifacts?: ArtifactCounts
  /** What the user has said and the model has not heard. */
  unheard: string[]
  metadata: Metadata
  createdAt: number
  updatedAt: number
  /** How many events are stored, and the number of the next. */
  stored: number
  seq: number
  /** Where the journal of the cycle under way begins. */
  journal: number
  /** How much of the inbox was read. */
  inbox: number
  snapshot?: SnapshotInfo
  definition?: AgentDefinition
  pending?: Pending
  /** The calls that wait for approval, and those answered since. */
  asked: StoredApproval[]
  lease?: Lease
  /** Counts up with each claim. */
  fence: number
  /** Randomness and idempotency keys come from it. */
  seed: string
  /** Why no worker goes on with it. */
  refused?: string
  /** Set when a worker ended in the middle of a cycle, until the cycle that tells the model is saved. */
  interrupted?: true
  /** The claims since the last saved cycle; absent where there were none before the current one. */
  attempts?: Attempts
  /** The retries since the last saved cycle. */
  retries?: Retries
  /** No worker takes the run before this time, in milliseconds since the epoch. */
  retryAt?: number
  /** Of a failed run: the position in the log of events where the cycle that failed begins. */
  failedFrom?: number
  /** Of a failed run: what the cycle that failed left to later runs of the session. A retry goes on without it. */
  failedWith?: Pick<ConversationHead, "approved" | "tools" | "artifacts">
  /** Parts of the log of events that are no part of the conversation: cycles that failed before a retry. */
  skipped?: [from: number, to: number][]
}

export interface Lease {
  owner: Owner
  /** How long the owner may say nothing before another takes the run. */
  forMs: number
}

export interface StoredApproval {
  key: string
  id: string
  call: CallPreview
  /** What is told with the question. */
  reason?: string
  decision?: Decision
  /** When it is refused without an answer, in milliseconds since the epoch. */
  expiresAt?: number
  /** Set where no answer came in time: the decision is then a refusal. */
  expired?: true
  /** Set once the log has the events of the question, and of the decision if there is one. */
  logged?: true
}

/** What belongs to the bytes of a snapshot. */
export interface SnapshotInfo {
  hash: string
  /** Set where the bytes are only the changes since a whole snapshot: the hash of that one. */
  since?: string
  language: Runtime["language"]
  lost: RuntimeLoss[]
  /** Absent where the bytes were too many to keep. */
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
  /** The keys of its artifacts begin so. */
  artifacts: `runs/${id}/artifacts/`,
  /** What has changed since that snapshot. */
  snapshotChanges: `runs/${id}/snapshot-changes`,
  /** The conversation up to this run, in folded form. */
  conversation: `runs/${id}/conversation`,
  /** The options of `submit` for the run. */
  options: `runs/${id}/options`,
  /** The declared outputs of a run that has ended. */
  objects: `runs/${id}/objects`,
  /** Where a run that has not begun stands in the queue of its session, if that changed. */
  place: `runs/${id}/place`,
  /** The run of the same session that follows. */
  next: `runs/${id}/next`,
  /** A log that grows when the run comes to rest: whoever waits for that reads nothing else. */
  rests: `runs/${id}/rests`,
})

/** Its revision changes when a run is queued, by whichever process. */
export const queuedMarkerKey = "queued"

/** Where the whole text of a call is that waits for approval. */
export const pendingCallKey = (run: string, call: string) => `runs/${run}/calls/${call}`

// A name with a slash in it must not be taken for another's.
export const submitKeyKey = (agent: string, key: string) => `keys/${encodeURIComponent(agent)}/${key}`

/** Where the last run of a session is named. */
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

/** For a run whose records are not as the engine wrote them. */
export function damagedRunError(id: string, what: string): AgentError {
  return corruptError(`What is stored of run ${id}`, what, "Restore the store from a backup, or delete its records.")
}

/** The changes that make a head the stored one, its place in the lists included. */
export function headChanges(next: RunHead, before?: RunHead): StoreChange[] {
  const keys = runKeys(next.id)
  const changes: StoreChange[] = [{ type: "put", key: keys.head, value: next as unknown as Json }]
  if (!isUnderWay(next) || next.refused !== before?.refused) {
    changes.push({ type: "append", log: keys.rests, items: [next.status] })
  }
  // The journal has the results of calls. Only a retry of a failed run needs it after the end.
  if (hasEnded(next) && next.status !== "failed") changes.push({ type: "delete", key: keys.journal })
  const waiting = new Set(hasEnded(next) ? [] : next.asked.filter(isUndecided).map(({ id }) => id))
  for (const { id } of before?.asked.filter(isUndecided) ?? []) {
    if (!waiting.has(id)) changes.push({ type: "delete", key: pendingCallKey(next.id, id) })
  }
  // Written whenever a run comes to wait for a worker: a process that works for this store alone looks at it often.
  if (next.status === "queued" && before?.status !== "queued") {
    changes.push({ type: "put", key: queuedMarkerKey, value: true })
  }
  const place = statusListKey(next.status, next.id)
  if (before && place === statusListKey(before.status, next.id)) return changes
  if (before) changes.push({ type: "delete", key: statusListKey(before.status, next.id) })
  changes.push({ type: "put", key: place, value: next.createdAt })
  return changes
}

const isUndecided = ({ decision }: StoredApproval) => decision === undefined

/** Where a run is listed: by what it came to, and together while it is worked on or is about to be. */
export function statusListKey(status: RunStatus, id: string): string {
  return `status/${status === "queued" || status === "running" ? "under-way" : status}/${id}`
}

/** The runs that are listed with one of these. One that cannot be read is told of, once, and left out. */
export async function* listRuns(store: Store, statuses: readonly RunStatus[]): AsyncGenerator<StoredRunHead> {
  for (const list of new Set(statuses.map((status) => statusListKey(status, "")))) {
    for await (const key of store.keys(list)) {
      const found = await readHead(store, key.slice(list.length)).catch(reportUnreadable)
      if (found && statuses.includes(found.head.status)) yield found
    }
  }
}

const report = createErrorReporter("engine", {})

function reportUnreadable(error: unknown): undefined {
  if (!(error instanceof AgentError) || (error.code !== "version" && error.code !== "corrupt")) throw error
  report(error)
}

/** Changes a head that nobody works on, or gives up where `change` gives nothing. Tries again when another was first.
 *  `known`: as it was read just now. */
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
