// How runs nest: which run the current code belongs to, and what child runs share with their ancestors.
import { AsyncLocalStorage } from "node:async_hooks"
import { AbortError, AgentError } from "./errors.ts"
import type { AgentEvent, StopReason } from "./event.ts"
import type { RunApprovals } from "./run-approvals.ts"
import type { Usage } from "./usage.ts"
import { createHiddenField } from "./values/hidden-field.ts"

/** A run as its child runs see it. A run that is started inside a cell or call of another run is its child. */
export interface RunContext {
  readonly id: string
  /** The name of its agent. */
  readonly agent: string
  readonly parent: RunContext | undefined
  /** 1 for a run without a parent. */
  readonly depth: number
  /** The depth that no descendant may exceed. */
  readonly maxDepth: number
  readonly signal: AbortSignal
  ended: boolean
  /** Returns true if what the run does is dropped, because it continues later from an earlier point. Then it and its
   *  child runs report nothing. */
  isSuspended(): boolean
  readonly approvals: RunApprovals
  readonly children: Set<ChildRun>
  /** What this run passes on to the runs that it starts. */
  readonly inherited: Inherited
  budget: RunBudget | undefined
  /** Publishes an event of a descendant, here and at all ancestors. */
  forward(event: AgentEvent): void
  /** Counts usage of this run or a descendant. */
  countUsage(usage: Usage): void
}

/** What child runs inherit from a run. The modules above core add their members by declaration merging, because core
 *  may not import their types: `declare module "…/core/run-context.ts" { interface Inherited { … } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: other modules add the members.
export interface Inherited {}

export interface ChildRun {
  readonly settled: Promise<unknown>
  abort(reason: AbortError): void
}

/** What a run may use, including its descendants. */
export interface RunBudget {
  /** The limit that has been reached, if any. */
  reachedLimit(): StopReason | undefined
  /** Stops the clock while `work` is in progress. */
  pauseWhile<T>(work: () => Promise<T>): Promise<T>
  /** True if the cost is limited, so that all descendants need known prices. */
  limitsCost: boolean
}

interface RunScope {
  run: RunContext
  /** Fires when the cell that the work belongs to is stopped. */
  signal?: AbortSignal | undefined
}

const runScopes = new AsyncLocalStorage<RunScope>()

/** Runs `work` as part of a run: runs that it starts, also after awaits, are children of this run. */
export function insideRun<T>(run: RunContext, work: () => T): T {
  return runScopes.run({ run }, work)
}

/** Runs `work` outside of all runs: runs that it starts have no parent, continue when the current run ends, and do
 *  not count against its limits. For functions that pass a task to your own queue or service. */
export function outsideRuns<T>(work: () => T): T {
  return runScopes.exit(work)
}

/** Binds work that arrives from elsewhere, such as calls from another process, to the current run. `signal` is that
 *  of the cell that the work belongs to. */
export function bindToThisRun(): <T>(signal: AbortSignal, work: () => T) => T {
  const run = runScopes.getStore()?.run
  if (!run) return (_signal, work) => work()
  return (signal, work) => runScopes.run({ run, signal }, work)
}

/** The parent of a new run, and the signals that abort the new run. If the current run has ended, its nearest
 *  ancestor that has not ended is the parent. */
export function parentForNewRun(): { parent: RunContext; signals: AbortSignal[] } | undefined {
  const scope = runScopes.getStore()
  let parent = scope?.run
  while (parent?.ended) parent = parent.parent
  if (!parent) return undefined
  const ofCell = parent === scope?.run && scope.signal ? [scope.signal] : []
  return { parent, signals: [parent.signal, ...ofCell] }
}

/** The run and its ancestors, nearest first. */
export function* runAndAncestors(run: RunContext | undefined): Generator<RunContext> {
  for (let each = run; each; each = each.parent) yield each
}

/** Returns the value that a run, or else its nearest ancestor that has one, passes on. */
export function findInherited<K extends keyof Inherited>(
  run: RunContext | undefined,
  key: K,
): Inherited[K] | undefined {
  return runAndAncestors(run).find(({ inherited }) => inherited[key] !== undefined)?.inherited[key]
}

export function limitReachedByRunOrAncestor(run: RunContext | undefined): StopReason | undefined {
  for (const { budget } of runAndAncestors(run)) {
    const reason = budget?.reachedLimit()
    if (reason) return reason
  }
  return undefined
}

/** Stops the clocks of a run and its ancestors while `work` is in progress. */
export function pauseRunAndAncestors<T>(run: RunContext, work: () => Promise<T>): Promise<T> {
  let pausing = work
  for (const { budget } of runAndAncestors(run)) {
    const inner = pausing
    if (budget) pausing = () => budget.pauseWhile(inner)
  }
  return pausing()
}

/** The context of a run, by its `Run` object. */
export const contextOfRun = createHiddenField<RunContext>()

/** Throws if runs may not be nested any deeper. */
export function checkNestingDepth(agent: string, parent: RunContext): void {
  if (parent.depth < parent.maxDepth) return
  const chain = [...runAndAncestors(parent)].map((run) => run.agent).reverse()
  throw new AgentError(
    `"${agent}" was not run: runs may be nested ${chain.length} deep, and these are already: ${chain.join(" → ")}. ` +
      "Do the work without it, or raise limits.depth.",
    { code: "too-deep", details: { chain } },
  )
}

/** Aborts the child runs that are still running, and waits for them. */
export async function endChildRuns({ children }: RunContext): Promise<void> {
  if (children.size === 0) return
  const open = [...children]
  for (const child of open) child.abort(new AbortError("The run that started this one has ended."))
  await Promise.all(open.map((child) => child.settled))
}
