// Checks the options of the engine and its methods.
import {
  anything,
  checkOptions,
  mustBe,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeFunction,
  mustBeIntegerFrom,
  mustBeNumber,
  mustBeObject,
  mustBeOneOf,
  mustBeOptions,
  mustBeSignal,
  mustBeText,
  mustImplement,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import type { BackendOptions } from "./backends/backend.ts"
import { runStatuses } from "./checkpoint.ts"
import type { EngineOptions } from "./engine-contract.ts"
import type { ListFilter } from "./run-info.ts"
import type { RetryPolicy } from "./run-retries.ts"
import type { SubmitOptions } from "./submit.ts"
import type { WatchOptions } from "./watch-run.ts"

const retryChecks: OptionChecks<RetryPolicy> = {
  firstMs: mustBeAtLeast(0),
  longestMs: mustBeAtLeast(0),
  attempts: mustBeIntegerFrom(0),
  withinMs: mustBeAtLeast(0),
}

const engineChecks: OptionChecks<EngineOptions> = {
  agents: mustBeObject,
  store: mustImplement(["get", "commit", "keys", "read", "close"], "a store"),
  backend: mustImplement(["push", "start", "queued"], "a backend"),
  leaseMs: mustBeAtLeast(1),
  holdMs: mustBeAtLeast(0),
  sliceMs: mustBeAtLeast(0),
  maxSnapshotBytes: mustBeAtLeast(0),
  unknown: mustBeOneOf("ask", "fail", "retry"),
  warmRuns: mustBeAtLeast(0),
  allowChanged: mustBeBoolean,
  maxAttempts: mustBeAtLeast(1),
  retry: mustBeOptions(retryChecks),
}

const submitChecks: OptionChecks<SubmitOptions> = {
  key: mustBeText,
  session: mustBeText,
  metadata: mustBeObject,
  limits: mustBeOptions(limitChecks),
  outputs: mustBeObject,
  values: mustBeObject,
  state: mustBeObject,
}

const isStatus = mustBe(
  (value) => [value].flat().every((each) => runStatuses.some((status) => status === each)),
  `one or several of ${runStatuses.join(", ")}`,
)

const listChecks: OptionChecks<ListFilter> = { status: isStatus, agent: mustBeText, session: mustBeText }
const watchChecks: OptionChecks<WatchOptions> = { from: mustBeIntegerFrom(0), signal: mustBeSignal }

/** The options that every backend takes. */
export const backendChecks: OptionChecks<BackendOptions> = { onError: mustBeFunction }

export const checkEngineOptions = (options: EngineOptions) => checkOptions("createEngine()", options, engineChecks)
export const checkSubmitOptions = (options: SubmitOptions) => checkOptions("engine.submit()", options, submitChecks)
export const checkListFilter = (filter: ListFilter) => checkOptions("engine.list()", filter, listChecks)
export const checkWatchOptions = (options: WatchOptions) => checkOptions("engine.watch()", options, watchChecks)
export const checkWorkOptions = (options: { concurrency?: number | undefined }) =>
  // The backend checks the number.
  checkOptions("engine.work()", options, { concurrency: anything })
export const checkPruneOptions = (options: { olderThanMs: number }) =>
  checkOptions("engine.prune()", options, { olderThanMs: mustBeNumber })
export const checkResultOptions = (options: { signal?: AbortSignal | undefined }) =>
  checkOptions("engine.result()", options, { signal: mustBeSignal })
