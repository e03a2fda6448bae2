// Checks the options of the engine and its methods.
import { mustBeBudget } from "../agent/session-budget.ts"
import * as check from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import type { Store } from "../stores/store.ts"
import type { Backend, BackendOptions } from "./backends/backend.ts"
import { runStatuses } from "./checkpoint.ts"
import type { EngineOptions } from "./engine-contract.ts"
import type { ListFilter } from "./run-info.ts"
import type { RetryPolicy } from "./run-retries.ts"
import type { SubmitOptions } from "./submit.ts"
import type { WatchOptions } from "./watch-run.ts"

const retryChecks: check.OptionChecks<RetryPolicy> = {
  firstDelayMs: check.mustBeIntegerFrom(0),
  maxDelayMs: check.mustBeLimit(0),
  maxRetries: check.mustBeLimit(0),
  withinMs: check.mustBeLimit(0),
}

const storeMakers = "sqliteStore(), redisStore() or memoryStore() of karst/stores"
const backendMakers = "inlineBackend(), workerBackend() or bullmqBackend() of karst/engine"

const engineChecks: check.OptionChecks<EngineOptions> = {
  agents: check.mustBeObject,
  store: check.mustImplement<Store>(["get", "commit", "keys", "read", "close"], "a store", storeMakers),
  backend: check.mustImplement<Backend>(["push", "start", "countQueued"], "a backend", backendMakers),
  leaseMs: check.mustBeIntegerFrom(1),
  holdMs: check.mustBeLimit(0),
  sliceMs: check.mustBeLimit(0),
  maxSnapshotBytes: check.mustBeLimit(1),
  unknown: check.mustBeOneOf("ask", "fail", "retry"),
  maxWarmRuns: check.mustBeLimit(0),
  allowChanged: check.mustBeBoolean,
  maxCrashes: check.mustBeLimit(1),
  retry: check.mustBeOptions(retryChecks),
}

const submitChecks: check.OptionChecks<SubmitOptions> = {
  key: check.mustBeText,
  session: check.mustBeText,
  budget: mustBeBudget,
  metadata: check.mustBeMetadata,
  limits: check.mustBeOptions(limitChecks),
  outputs: check.mustBeObject,
  values: check.mustBeObject,
  state: check.mustBeObject,
}

const isStatus = check.mustBe(
  (value) => [value].flat().every((each) => runStatuses.some((status) => status === each)),
  `one or several of ${runStatuses.join(", ")}`,
)

const listChecks: check.OptionChecks<ListFilter> = {
  status: isStatus,
  agent: check.mustBeText,
  session: check.mustBeText,
}
const watchChecks: check.OptionChecks<WatchOptions> = { from: check.mustBeIntegerFrom(0), signal: check.mustBeSignal }

/** The options that every backend takes. */
export const backendChecks: check.OptionChecks<BackendOptions> = { onError: check.mustBeFunction }

export const checkEngineOptions = (options: EngineOptions) =>
  check.checkOptions("createEngine()", options, engineChecks)
export const checkSubmitOptions = (options: SubmitOptions) =>
  check.checkOptions("engine.submit()", options, submitChecks)
export const checkListFilter = (filter: ListFilter) => check.checkOptions("engine.list()", filter, listChecks)
export const checkWatchOptions = (options: WatchOptions) => check.checkOptions("engine.watch()", options, watchChecks)
export const checkWorkOptions = (options: { maxParallel?: number | undefined }) =>
  check.checkOptions("engine.work()", options, { maxParallel: check.mustBeIntegerFrom(1) })
export const checkPruneOptions = (options: { olderThanMs: number }) =>
  check.checkOptions("engine.prune()", options, { olderThanMs: check.mustBeLimit(0) })
export const checkResultOptions = (options: { signal?: AbortSignal | undefined }) =>
  check.checkOptions("engine.result()", options, { signal: check.mustBeSignal })
