import { AsyncLocalStorage } from "node:async_hooks"
import type { Decision } from "./agent.ts"
import { AbortError, AgentError } from "./errors.ts"
import type { AgentEvent, StopReason } from "./event.ts"
import { newId } from "./message.ts"
import type { Usage } from "./usage.ts"
import { createHiddenField } from "./values/hidden-field.ts"

/** A run as the runs that are started from it see it: whoever starts one inside a cell or a call of a run starts a child
 *  of that run. */
export interface RunContext {
  readonly id: string
  /** The name of its agent. */
  readonly agent: string
  readonly parent: RunContext | undefined
  /** 1 for a run that no other has started. */
  readonly depth: number
  /** The depth that no run below may exceed. */
  readonly maxDepth: number
  readonly signal: AbortSignal
  ended: boolean
  /** Whether who reads its events answers by `run.approve`. */
  readersApprove: boolean
  /** What waits for `run.approve`, by the id of the call. */
  readonly decisions: Map<string, AwaitedDecision>
  /** The run that has asked by each id, of this run and those below it; kept where there is no run above. */
  readonly questionOwners: Map<string, string>
  readonly children: Set<ChildRun>
  /** What this run passes on to the runs that it starts. */
  readonly inherited: Inherited
  budget: RunBudget | undefined
  /** Publishes an event of a run below, here and further up. */
  forward(event: AgentEvent): void
  /** Counts what a run below has used. */
  countUsage(usage: Usage): void
}

/** What child runs inherit from a run. The modules above core add their members by declaration merging, because core may
 *  not import their types: `declare module "…/core/run-context.ts" { interface Inherited { … } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: other modules add the members.
export interface Inherited {}

export interface AwaitedDecision {
  resolve(decision: Decision): void
  /** The whole call, as text. */
  text: string | undefined
}

export interface ChildRun {
  readonly settled: Promise<unknown>
  abort(reason: AbortError): void
}

/** What a run may use, for itself and all below it. */
export interface RunBudget {
  /** The limit that is reached, if any. */
  reachedLimit(): StopReason | undefined
  /** Stops the clock while `work` is under way. */
  pauseWhile<T>(work: () => Promise<T>): Promise<T>
  /** Whether it is limited in money, so that all below must know what they cost. */
  limitsCost: boolean
}

interface RunScope {
  run: RunContext
  /** Fires when the cell that the work is done for is stopped. */
  signal?: AbortSignal | undefined
}

const runScopes = new AsyncLocalStorage<RunScope>()

/** Does the work of a run: what is started meanwhile, also after awaits, is started by it. */
export function insideRun<T>(run: RunContext, work: () => T): T {
  return runScopes.run({ run }, work)
}

/** Does work that belongs to no run: what it starts is nobody's child, lives on when the run under way ends, and is not
 *  held to its limits. For a function that hands a task to a queue or a service of yours. */
export function outsideRuns<T>(work: () => T): T {
  return runScopes.exit(work)
}

/** Makes what comes from elsewhere, such as a call out of another process, part of the run under way now. `signal` is
 *  that of the cell it is done for. */
export function bindToThisRun(): <T>(signal: AbortSignal, work: () => T) => T {
  const run = runScopes.getStore()?.run
  if (!run) return (_signal, work) => work()
  return (signal, work) => runScopes.run({ run, signal }, work)
}

/** The run that a new one would be a child of, and the signals that would end it. A run that has ended is nobody's
 *  parent: what it left behind acts for the one above it. */
export function parentForNewRun(): { parent: RunContext; signals: AbortSignal[] } | undefined {
  const place = runScopes.getStore()
  let parent = place?.run
  while (parent?.ended) parent = parent.parent
  if (!parent) return undefined
  const ofCell = parent === place?.run && place.signal ? [place.signal] : []
  return { parent, signals: [parent.signal, ...ofCell] }
}

/** The run and those above it, the nearest first. */
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

/** The limit that this run or one above it has reached, if any. */
export function limitReachedByRunOrAncestor(run: RunContext | undefined): StopReason | undefined {
  for (const { budget } of runAndAncestors(run)) {
    const reason = budget?.reachedLimit()
    if (reason) return reason
  }
  return undefined
}

/** Stops the clocks of a run and of those above it while `work` is under way. */
export function pauseRunAndAncestors<T>(run: RunContext, work: () => Promise<T>): Promise<T> {
  let pausing = work
  for (const { budget } of runAndAncestors(run)) {
    const inner = pausing
    if (budget) pausing = () => budget.pauseWhile(inner)
  }
  return pausing()
}

/** The context of a run, by its handle. */
export const contextOfRun = createHiddenField<RunContext>()

/** Lets who reads the events of a run answer by `run.approve`, for a program that shows a run that it did not start. */
export function allowReadersToApprove(run: object): void {
  const context = contextOfRun.get(run)
  if (context) context.readersApprove = true
}

interface DecisionRequest {
  /** The whole call, for `run.pendingCall`. */
  text?: string | undefined
  /** Fires when an answer would come too late. */
  late?: AbortSignal | undefined
  /** The error for an aborted run. */
  abortError(): Error
}

/** The id to ask by: that of the call, or a new one where another run of the same tree has asked by it, or it is being asked
 *  by. Some models number their calls, and an answer to one call must not reach another. */
export function claimQuestionId(run: RunContext, call: string): string {
  let top = run
  while (top.parent) top = top.parent
  const asker = top.questionOwners.get(call)
  if (run.decisions.has(call) || (asker !== undefined && asker !== run.id)) return newId("call")
  top.questionOwners.set(call, run.id)
  return call
}

/** Waits for `run.approve(id, …)`, of this run or of one above it. */
export function awaitDecision(
  run: RunContext,
  id: string,
  { text, late, abortError: aborted }: DecisionRequest,
): Promise<Decision> {
  const { promise, resolve, reject } = Promise.withResolvers<Decision>()
  const abort = () => reject(aborted())
  if (run.signal.aborted) abort()
  run.signal.addEventListener("abort", abort, { once: true })
  late?.addEventListener("abort", () => reject(late.reason), { once: true })
  for (const each of runAndAncestors(run)) each.decisions.set(id, { resolve, text })
  return promise.finally(() => {
    for (const each of runAndAncestors(run)) each.decisions.delete(id)
    run.signal.removeEventListener("abort", abort)
  })
}

/** Throws where no more runs may be nested. */
export function checkNestingDepth(agent: string, parent: RunContext): void {
  if (parent.depth < parent.maxDepth) return
  const chain = [...runAndAncestors(parent)].map((run) => run.agent).reverse()
  throw new AgentError(
    `"${agent}" was not run: runs may be nested ${chain.length} deep, and these are already: ${chain.join(" → ")}. ` +
      "Do the work without it, or raise limits.depth.",
    { code: "too-deep", details: { chain } },
  )
}

/** Ends the runs that a run has started and left behind, and waits until they have. */
export async function endChildRuns({ children }: RunContext): Promise<void> {
  if (children.size === 0) return
  const open = [...children]
  for (const child of open) child.abort(new AbortError("The run that started this one has ended."))
  await Promise.all(open.map((child) => child.settled))
}

/** Aborts with whichever signal fires first, until it is told not to. Unlike `AbortSignal.any` it can be: a parent may start
 *  many runs, one after the other. */
export function followSignals(controller: AbortController, signals: readonly AbortSignal[]): () => void {
  const aborts = signals.map((signal) => ({ signal, abort: () => controller.abort(signal.reason) }))
  for (const { signal, abort } of aborts) {
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort)
  }
  return () => {
    for (const { signal, abort } of aborts) signal.removeEventListener("abort", abort)
  }
}
