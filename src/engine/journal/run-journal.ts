// The journal of a run: records models' answers, calls and clock values, and replays them when a cycle is executed
// again.
import type { ApprovalAnswer } from "../../actions/approval.ts"
import type { CallSteps, Journal } from "../../actions/journal-contract.ts"
import { callName, callSubject, previewCall } from "../../actions/preview-call.ts"
import type { InterruptedCall } from "../../agent/conversation/interruption.ts"
import type { Usage } from "../../core/usage.ts"
import type { UnknownPolicy } from "../../runtime/bindings.ts"
import type { RuntimeCall } from "../../runtime/runtime.ts"
import { encodeError } from "../../sessions/outcome-codec.ts"
import { encodeValue } from "../../sessions/value-codec.ts"
import type { ApprovalCall } from "../run/run-approvals.ts"
import { hashArguments, hashValue } from "./call-hash.ts"
import { createCellClock } from "./cell-clock.ts"
import { createCycle, type JournalEntry } from "./journal-cycle.ts"
import { createJournaledModel } from "./journaled-model.ts"

export type { JournalEntry } from "./journal-cycle.ts"

export interface JournalSetup {
  run: string
  /** The number of finished cycles. */
  cycle: number
  /** The randomness of cells derives from it. */
  seed: string
  /** The entries of the cycle that is executed again. */
  entries: readonly JournalEntry[]
  /** `now` resolves when the entries are written. `soon` writes them with the next write, or a moment later. */
  append(entries: readonly JournalEntry[], when: "now" | "soon"): Promise<void>
  /** Rejects if the worker has lost the run. */
  checkHeld(): Promise<void>
  /** How often the run was claimed until now. */
  claims(): number
  unknown: UnknownPolicy
  /** `wait` requests an approval. `recordedAnswer` returns the decision made before the cycle was executed again. */
  approval: {
    recordedAnswer(key: string): ApprovalAnswer | undefined
    wait(key: string, asked: ApprovalCall): Promise<ApprovalAnswer>
  }
  /** Called if the cycle makes other calls than before. */
  onDiverged(what: string): void
  /** Called if a cell has an effect without a call, so that it is not recorded: once for each cell and effect. */
  onEffect(what: string): void
}

export interface RunJournal {
  journal: Journal
  /** At the end of a cycle: reports recorded calls that the cycle did not make again. */
  reportUnaskedCalls(): void
  /** Starts the cycle after `done` saved cycles, and drops the entries of the one before. */
  startCycle(done: number): void
  /** True if the model's answer of the cycle that is executed again is recorded. */
  readonly hasRecordedAnswer: boolean
  /** What the model's answers have used that failed before the cycle was retried, and that are asked for again. */
  readonly lostUsage: Usage
  /** The calls recorded before the cycle was executed again, with what is known of their outcomes now. */
  pastCalls(): InterruptedCall[]
  /** Resolves when no call is under way. */
  untilIdle(): Promise<void>
  /** From now on every call throws `reason`. */
  close(reason: unknown): void
}

export function createRunJournal(setup: JournalSetup): RunJournal {
  let cycle = createCycle(setup.entries, setup.onDiverged, setup.cycle)
  let closed: { reason: unknown } | undefined
  const underWay = new Set<Promise<unknown>>()
  const throwIfClosed = () => {
    if (closed) throw closed.reason
  }

  async function append(entries: readonly JournalEntry[], when: "now" | "soon"): Promise<void> {
    // The calls of a cell may depend on the clock values that it has read, so these are written first.
    const times = [...cycle.clocks].flatMap(([key, clock]): JournalEntry[] => {
      const reads = clock.takeReads()
      return reads.length > 0 ? [{ type: "time", key, reads }] : []
    })
    await setup.append([...times, ...entries], when)
  }

  function scope(path: string): Journal {
    return {
      answersApprovals: true,
      call(call, steps) {
        const { hash, hasUnnamed } = hashArguments(call)
        return answer(call, steps, nextKey(path, `${callSubject(call)}(${hash})`), hasUnnamed)
      },
      wrapModel: (model) =>
        createJournaledModel(model, () => {
          throwIfClosed()
          const key = nextKey(path, `model ${model.id}`)
          const recorded = cycle.answers.get(key)
          cycle.asked.add(key)
          return {
            answer: recorded,
            begin: () => setup.checkHeld().then(throwIfClosed),
            record: (given) => append([{ type: "model", key, ...given }], "soon"),
          }
        }),
      cellEnv() {
        const key = nextKey(path, "cell")
        const seed = `${setup.seed}/${cycle.number}/${key}`
        const clock = createCellClock(cycle.reads.get(key) ?? [], seed, setup.onEffect)
        cycle.clocks.set(key, clock)
        return clock.env
      },
      openChild: (name, input) => scope(`${nextKey(path, `${name}(${hashValue(input)})`)}/`),
    }
  }

  function nextKey(path: string, what: string): string {
    const ordinal = (cycle.ordinals.get(path + what) ?? 0) + 1
    cycle.ordinals.set(path + what, ordinal)
    return `${path}${what}#${ordinal}`
  }

  async function answer(call: RuntimeCall, steps: CallSteps, key: string, hasUnnamed: boolean): Promise<unknown> {
    throwIfClosed()
    const past = cycle.calls.get(key)
    cycle.asked.add(key)
    if (past?.outcome) {
      await cycle.order.waitForPosition(past.outcome.position)
      steps.state.applyChanges(past.state)
      return past.outcome.replay()
    }
    const isUnknown = past && !call.idempotent
    if (isUnknown) {
      try {
        await settleUnknown(call, steps, key, hasUnnamed)
      } catch (error) {
        // The call is not made again. If it had ended, its changes of the tool state are recorded.
        steps.state.applyChanges(past.state)
        throw error
      }
    }
    // A call that had started was approved, if it is certainly the same call.
    if (call.approve && (!isUnknown || hasUnnamed)) await steps.approve(deciding(call, key, hasUnnamed))
    throwIfClosed()
    const idempotencyKey = hashValue([setup.run, setup.seed, cycle.number, key])
    const decidingAgain = () => {
      const changed = hashArguments(call)
      return deciding(call, `${key} changed to ${changed.hash}`, changed.hasUnnamed)
    }
    if (call.journal === false) {
      await setup.checkHeld()
      throwIfClosed()
      return steps.make(idempotencyKey, decidingAgain)
    }
    const work = record(call, key, steps.state, () => steps.make(idempotencyKey, decidingAgain))
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }

  // An earlier decision counts only for the same arguments. Unnamed opaque arguments cannot be compared.
  function deciding(call: RuntimeCall, key: string, hasUnnamed: boolean) {
    const reason = hasUnnamed ? unnamedArgumentReason : undefined
    return {
      recordedAnswer: hasUnnamed ? undefined : setup.approval.recordedAnswer(key),
      reason,
      claimRequestId: () => requestId(key, hasUnnamed),
      askReaders: (id: string, text: string, timeoutMs?: number) =>
        setup.approval.wait(key, { id, call: previewCall(call), reason, text, timeoutMs, signal: call.signal }),
    }
  }

  // The same request has the same id when the cycle is executed again, so that an answer to it still counts. A request
  // about arguments that cannot be compared is another one then.
  function requestId(key: string, hasUnnamed: boolean): string {
    const parts = [setup.run, setup.seed, cycle.number, key, ...(hasUnnamed ? [setup.claims()] : [])]
    return `approval_${hashValue(parts)}`
  }

  async function settleUnknown(call: RuntimeCall, steps: CallSteps, key: string, hasUnnamed: boolean): Promise<void> {
    const policy = call.unknown ?? setup.unknown
    if (policy === "retry") return
    const name = callName(call)
    if (policy === "fail") throw unknownOutcomeError(`${name} was begun before an interruption, and ${unknownCure}`)
    // The approval before the call was first made is no answer to this question.
    const by = deciding(call, `${key} made again`, hasUnnamed)
    const decision = by.recordedAnswer ?? (await steps.ask({ ...by, reason: unknownOutcomeReason }))
    if (decision === "deny" || decision === "unanswered") {
      throw unknownOutcomeError(`${name} was begun before an interruption, and was not made again.`)
    }
  }

  async function record(call: RuntimeCall, key: string, state: CallSteps["state"], make: () => Promise<unknown>) {
    // Entries that led to the call are written first. This fails if the worker has lost the run.
    await append(call.idempotent ? [] : [{ type: "started", key, call: previewCall(call) }], "now")
    throwIfClosed()
    const { done, changes } = state.recordChanges(make)
    const changed = () => {
      const made = changes()
      return made && { state: made }
    }
    const value = await done.catch(async (error: unknown) => {
      // A call cut off by the end of its cell may or may not have taken effect, so no outcome is recorded.
      if (!call.signal.aborted && !closed) {
        cycle.made.add(key)
        await append([{ type: "failed", key, error: encodeError(error), ...changed() }], "soon")
      }
      throw error
    })
    const stored = encodeValue(value)
    cycle.made.add(key)
    await append([{ type: "done", key, ...(stored && { value: stored }), ...changed() }], "soon")
    return value
  }

  return {
    journal: scope(""),
    reportUnaskedCalls() {
      const unasked = [...cycle.calls.values()].filter(({ key }) => !cycle.asked.has(key)).map(({ name }) => name)
      if (unasked.length === 0) return
      setup.onDiverged(`these calls had been made and were not asked for again: ${unasked.join(", ")}`)
    },
    lostUsage: cycle.lostUsage,
    hasRecordedAnswer: [...cycle.answers].some(([key, { error }]) => !key.includes("/model ") && !error),
    pastCalls() {
      const { calls, made } = cycle
      return [...calls.values()].flatMap(({ key, call, outcome }): InterruptedCall[] =>
        call ? [{ call, outcome: outcome ? "recorded" : made.has(key) ? "remade" : "unknown" }] : [],
      )
    },
    startCycle(done) {
      cycle = createCycle([], setup.onDiverged, done)
    },
    async untilIdle() {
      while (underWay.size > 0) await Promise.allSettled([...underWay])
    },
    close(reason) {
      closed ??= { reason }
    },
  }
}

// A plain Error for the cell, so that a variable that holds it can be stored in a snapshot.
function unknownOutcomeError(message: string): Error {
  return Object.assign(new Error(message), { name: "UnknownOutcome", code: "unknown-outcome" })
}

const unnamedArgumentReason =
  "One of its arguments is an object without a name, so the answer counts only while the cell is held: later it is asked again."

const unknownOutcomeReason = "It was begun before an interruption, and it is not known whether it took effect."

const unknownCure = "it is not known whether it took effect. Find out before you call it again."
