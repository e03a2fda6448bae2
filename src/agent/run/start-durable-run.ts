// Starts or resumes a durable run of an agent, for the engine.
import { combineObservers } from "../../actions/hooks.ts"
import { setJournal } from "../../actions/journal-contract.ts"
import type { Run } from "../../core/agent.ts"
import { startRun } from "../../core/run.ts"
import { runtimeContext } from "../../runtime/open-runtime.ts"
import { type AgentOptions, mergeOptions, requirePrice, resolveConfig } from "../agent-config.ts"
import type { AgentInternals } from "../agent-internals.ts"
import { closeConversation, openConversation } from "../conversation/open-conversation.ts"
import { restoreConversation } from "../conversation/restore-conversation.ts"
import { checkOutputs } from "../outputs.ts"
import { limitsFromBudget } from "../session-budget.ts"
import { shareFilesWithChildRuns } from "./child-runs.ts"
import type { DurableRun } from "./durable-run.ts"
import { runLoop } from "./run-loop.ts"
import { brokenOutcome } from "./run-result.ts"

export function startDurableRun(options: AgentOptions, durable: DurableRun): Run {
  const { run: id, session, prompt, resumed, earlierConversation, budgetLeft } = durable
  const { limits, outputs, values, state } = durable.options ?? {}
  const config = resolveConfig(mergeOptions(options, { limits, metadata: durable.metadata }))
  const { metadata } = config
  if (budgetLeft?.costUsd !== undefined) requirePrice(config.model, "budget.costUsd")
  return startRun({
    id,
    agent: config.name,
    depth: config.limits.depth,
    signal: durable.signal,
    firstSeq: durable.firstSeq,
    isSuspended: () => durable.isSuspended,
    onEvent: combineObservers(options.onEvent, config.hooks),
    now: config.now,
    onBodyError: (error) => ({ ...brokenOutcome(id, error, []), suspended: true }),
    async body(control) {
      setJournal(control.context, durable.journal)
      control.spend(durable.usedByFailedAnswers)
      shareFilesWithChildRuns(control.context, config)
      const stored = resumed ?? earlierConversation
      const { signal } = control
      const context = runtimeContext({ metadata }, { session, signal })
      const shared = stored
        ? await restoreConversation(stored, config, { keepPrompt: resumed !== undefined, context })
        : await openConversation(config, { session, metadata, signal })
      try {
        control.setRecorder(shared.record)
        shared.artifacts.setReader(durable.readArtifact)
        shared.session = session
        shared.sessionLimits = budgetLeft && limitsFromBudget(budgetLeft)
        if (config.usesCode) await shared.runtime.trackInjected?.()
        await durable.attach(config, shared, control)
        const setup = { config, conversation: shared, prompt, metadata, outputs, values, state, durable }
        return await runLoop(control, setup)
      } finally {
        await closeConversation(shared)
      }
    },
  })
}

/** Throws if the agent cannot have a durable run with these options. */
export function checkDurableOptions(
  options: AgentOptions,
  { limits, outputs, budget }: Parameters<AgentInternals["checkDurableOptions"]>[0],
): void {
  const { model, usesCode } = resolveConfig(mergeOptions(options, { limits }))
  checkOutputs(outputs, usesCode)
  if (budget?.costUsd !== undefined) requirePrice(model, "budget.costUsd")
}
