import {
  anything,
  checkOptions,
  is,
  isFlag,
  isFrom,
  isFunction,
  isImplementation,
  isNumber,
  isOneOf,
  isOptions,
  isRecord,
  isSignal,
  isText,
  isWholeFrom,
  type OptionChecks,
} from "../core/check-options.ts"
import { limitChecks } from "../core/limit-checks.ts"
import type { BackendOptions } from "./backend.ts"
import { runStatuses } from "./checkpoint.ts"
import type { EngineOptions } from "./contract.ts"
import type { WatchOptions } from "./read-run.ts"
import type { RetryPolicy } from "./retries.ts"
import type { ListFilter } from "./run-info.ts"
import type { SubmitOptions } from "./submit.ts"

const retryChecks: OptionChecks<RetryPolicy> = {
  firstMs: isFrom(0),
  longestMs: isFrom(0),
  attempts: isWholeFrom(0),
  withinMs: isFrom(0),
}

const engineChecks: OptionChecks<EngineOptions> = {
  agents: isRecord,
  store: isImplementation(["get", "commit", "keys", "read", "close"], "a store"),
  backend: isImplementation(["push", "start", "queued"], "a backend"),
  leaseMs: isFrom(1),
  holdMs: isFrom(0),
  sliceMs: isFrom(0),
  maxSnapshotBytes: isFrom(0),
  unknown: isOneOf("ask", "fail", "retry"),
  warmRuns: isFrom(0),
  allowChanged: isFlag,
  maxAttempts: isFrom(1),
  retry: isOptions(retryChecks),
}

const submitChecks: OptionChecks<SubmitOptions> = {
  key: isText,
  session: isText,
  metadata: isRecord,
  limits: isOptions(limitChecks),
  outputs: isRecord,
  values: isRecord,
  state: isRecord,
}

const isStatus = is(
  (value) => [value].flat().every((each) => runStatuses.some((status) => status === each)),
  `one or several of ${runStatuses.join(", ")}`,
)

const listChecks: OptionChecks<ListFilter> = { status: isStatus, agent: isText, session: isText }
const watchChecks: OptionChecks<WatchOptions> = { from: isWholeFrom(0), signal: isSignal }

/** The options of every backend. */
export const backendChecks: OptionChecks<BackendOptions> = { onError: isFunction }

export const checkEngineOptions = (options: EngineOptions) => checkOptions("createEngine()", options, engineChecks)
export const checkSubmitOptions = (options: SubmitOptions) => checkOptions("engine.submit()", options, submitChecks)
export const checkListFilter = (filter: ListFilter) => checkOptions("engine.list()", filter, listChecks)
export const checkWatchOptions = (options: WatchOptions) => checkOptions("engine.watch()", options, watchChecks)
export const checkWorkOptions = (options: { concurrency?: number | undefined }) =>
  // Each backend checks the number itself.
  checkOptions("engine.work()", options, { concurrency: anything })
export const checkPruneOptions = (options: { olderThanMs: number }) =>
  checkOptions("engine.prune()", options, { olderThanMs: isNumber })
export const checkResultOptions = (options: { signal?: AbortSignal | undefined }) =>
  checkOptions("engine.result()", options, { signal: isSignal })
