// Stores a submitted run, once for each idempotency key.
import { isDeepStrictEqual } from "node:util"
import type { SessionBudget } from "../core/agent.ts"
import { checkName } from "../core/checks/check-name.ts"
import { ConfigError, ConflictError } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import { asJson } from "../core/json.ts"
import { newId, type Prompt, type UserMessage, userMessage } from "../core/message.ts"
import type { Store, StoreChange, StoreGuard } from "../stores/store.ts"
import { headChanges, type RunHead, runKeys, submitKeyKey } from "./checkpoint.ts"
import { enqueueChanges } from "./session-queue.ts"
import { parseKeyRecord, parsePrompt } from "./stored-records.ts"
import { encodeRunOptions, type StoredRunOptions, type SubmittedRunOptions } from "./submit-options.ts"

export interface SubmitOptions extends SubmittedRunOptions {
  /** Submitting again with the same key returns the same run. */
  key?: string | undefined
  /** Runs of one session share a conversation and its objects, and run one after the other. */
  session?: string | undefined
  /** What all runs of the session may use together. It holds for this run and the later ones, until one is submitted
   *  with another budget. `limits` apply to this run. Default: the budget of the run before, or no limit. */
  budget?: SessionBudget | undefined
  /** Stored with the run; `get` and `list` return it. */
  metadata?: Metadata | undefined
}

/** Stores a new run, or finds the run that was submitted with the same key. */
export async function submitRun(
  store: Store,
  agent: string,
  prompt: Prompt,
  { key, session, budget, metadata = {}, ...run }: SubmitOptions,
): Promise<{ id: string; isNew: boolean }> {
  if (key !== undefined) checkName("engine.submit(): the key", key)
  if (session !== undefined) checkName("engine.submit(): the session", session)
  if (budget && session === undefined) {
    throw new ConfigError(
      "budget: it is that of a session, and this run has none. Give submit a session, or limits for this run only.",
    )
  }
  const input = userMessage(prompt)
  const options = encodeRunOptions(run)
  for (;;) {
    const reserved = key === undefined ? undefined : await findByKey(store, agent, key, { input, session, options })
    if (reserved?.isStored) return { id: reserved.id, isNew: false }
    const head = createHead(agent, metadata, reserved?.id)
    if (budget) head.budget = finiteLimits(budget)
    try {
      await store.commit(
        ...(await newRunChanges(store, head, { input, options, key, session, isReserved: !!reserved })),
      )
      if (key === undefined || session === undefined || reserved) return { id: head.id, isNew: true }
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

/** Finds the run that reserved a key. In a session, one commit reserves the key for a run id and a second one stores
 *  the run, because a commit has only one guard: the process may have ended in between. */
async function findByKey(
  store: Store,
  agent: string,
  key: string,
  { input, session, options }: Pick<NewRun, "input" | "session" | "options">,
) {
  const entry = await store.get(submitKeyKey(agent, key))
  if (!entry) return undefined
  const { run: id, session: usedSession } = parseKeyRecord(entry.value, key)
  const stored = await store.get(runKeys(id).input)
  const before = stored && parsePrompt(stored.value, id)
  const isOther = before && !isDeepStrictEqual(before.parts, jsonCopy(input.parts))
  const what = isOther ? "another prompt" : usedSession === session ? undefined : "another session"
  const difference = what ?? (before && (await hasOtherOptions(store, id, options)) ? optionNames : undefined)
  if (difference === undefined) return { id, isStored: !!before }
  throw new ConflictError(
    `The key "${key}" was used for run ${id} with ${difference}. Use another key for another run.`,
    { retryable: false, details: { key, run: id } },
  )
}

const optionNames = "other limits, outputs, values or state"

async function hasOtherOptions(store: Store, id: string, options: StoredRunOptions | undefined): Promise<boolean> {
  const stored = await store.get(runKeys(id).options)
  return !isDeepStrictEqual(stored?.value, options && jsonCopy(options))
}

// Drops what JSON does not store, for a comparison with a stored value.
const jsonCopy = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

interface NewRun {
  input: UserMessage
  options: StoredRunOptions | undefined
  key: string | undefined
  session: string | undefined
  /** True if the key is reserved for this run already. */
  isReserved: boolean
}

async function newRunChanges(
  store: Store,
  head: RunHead,
  { input, options, key, session, isReserved }: NewRun,
): Promise<[StoreChange[], StoreGuard]> {
  const keys = runKeys(head.id)
  const changes: StoreChange[] = [{ type: "put", key: keys.input, value: asJson(input) }]
  if (options) changes.push({ type: "put", key: keys.options, value: asJson(options) })
  let guard: StoreGuard = { key: keys.head, ifRevision: 0 }
  if (key !== undefined) {
    head.key = key
    const name = submitKeyKey(head.agent, key)
    const reserve: StoreChange = {
      type: "put",
      key: name,
      value: { run: head.id, ...(session !== undefined && { session }) },
    }
    if (!isReserved) guard = { key: name, ifRevision: 0 }
    if (!isReserved && session !== undefined) return [[reserve], guard]
    if (!isReserved) changes.push(reserve)
  }
  if (session !== undefined) {
    const [queued, queueGuard] = await enqueueChanges(store, head, session)
    guard = queueGuard
    changes.push(...queued)
  }
  return [[...changes, ...headChanges(head)], guard]
}

// JSON has no number for `Infinity`, which is the same as no limit.
function finiteLimits(budget: SessionBudget): SessionBudget {
  return Object.fromEntries(Object.entries(budget).filter(([, limit]) => Number.isFinite(limit)))
}

function createHead(agent: string, metadata: Metadata, id = newId("run")): RunHead {
  const createdAt = Date.now()
  return {
    version: 1,
    id,
    agent,
    status: "queued",
    told: [],
    unheard: [],
    metadata,
    createdAt,
    updatedAt: createdAt,
    stored: 0,
    seq: 0,
    journal: 0,
    inbox: 0,
    asked: [],
    fence: 0,
    seed: newId("seed"),
  }
}
