// How runs nest: which run the current code belongs to, and what child runs share with their ancestors.
import { AsyncLocalStorage } from "node:async_hooks"
import type { Decision } from "./agent.ts"
import { AbortError, AgentError, ConfigError } from "./errors.ts"
import type { AgentEvent, StopReason } from "./event.ts"
import { newId } from "./message.ts"
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
  /** True if readers of its events answer approval requests by `run.approve`. */
  readersApprove: boolean
  /** Approval requests that wait for `run.approve`, by id. */
  readonly decisions: Map<string, AwaitedDecision>
  /** The ids of all approval requests of the tree. Only the root's set is used. */
  readonly questionIds: Set<string>
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

export interface AwaitedDecision {
  resolve(decision: Decision): void
  /** The complete call as text. */
  text: string | undefined
}

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

/** Lets readers of a run's events answer by `run.approve`; for programs that display a run they did not start. */
export function allowReadersToApprove(run: object): void {
  const context = contextOfRun.get(run)
  if (context) context.readersApprove = true
}

interface DecisionRequest {
  /** The complete call, for `run.pendingCall`. */
  text?: string | undefined
  /** Fires when an answer would be too late. */
  late?: AbortSignal | undefined
  /** Makes the error for an aborted run. */
  abortError(): Error
}

/** Reserves the id of an approval request: the call's id, or a new one if a request of the tree has had it. Some models
 *  number their calls, and a late answer must not reach another request. */
export function claimQuestionId(run: RunContext, call: string): string {
  let root = run
  while (root.parent) root = root.parent
  const id = root.questionIds.has(call) ? newId("call") : call
  root.questionIds.add(id)
  return id
}

/** Waits for `run.approve(id, …)` on this run or an ancestor. */
export function awaitDecision(
  run: RunContext,
  id: string,
  { text, late, abortError }: DecisionRequest,
): Promise<Decision> {
  const { promise, resolve, reject } = Promise.withResolvers<Decision>()
  const abort = () => reject(abortError())
  if (run.signal.aborted) abort()
  run.signal.addEventListener("abort", abort, { once: true })
  late?.addEventListener("abort", () => reject(late.reason), { once: true })
  for (const each of runAndAncestors(run)) each.decisions.set(id, { resolve, text })
  return promise.finally(() => {
    for (const each of runAndAncestors(run)) each.decisions.delete(id)
    run.signal.removeEventListener("abort", abort)
  })
}

/** Throws unless an answer to an approval request is a decision. `use` names the method that took it. */
export function checkDecision(use: string, decision: Decision): void {
  if (["allow", "deny", "always"].includes(decision)) return
  throw new ConfigError(`${use}: "${decision}" is no decision. Use "allow", "deny" or "always".`)
}

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
