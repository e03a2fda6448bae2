// Sends the prompt of a run to the CLI within the run's limits: resends after temporary failures, continues after usage
// limits.
import { AsyncLocalStorage } from "node:async_hooks"
import { approvalAnswers, requireApproval } from "../../actions/approval.ts"
import { setCallPolicy } from "../../actions/call-policy.ts"
import { setHookCaller } from "../../actions/hook-caller.ts"
import { createStopwatch, noCalls, reachedLimit } from "../../actions/run-limits.ts"
import { type ProviderError, UnsupportedError } from "../../core/errors.ts"
import type { EventBody, StopReason } from "../../core/event.ts"
import { type UserMessage, userMessage } from "../../core/message.ts"
import type { RunControl } from "../../core/run.ts"
import { addUsage, noUsage, totalTokens, type Usage, withCost } from "../../core/usage.ts"
import type { McpCall, McpHost } from "../../mcp/mcp-types.ts"
import type { CliConversation } from "../cli-conversation.ts"
import { requireFolder, requireProgram } from "../find-program.ts"
import { type CliConfig, priceOf } from "../options.ts"
import type { Provider, TurnResult, TurnServices, TurnSettings } from "../provider.ts"
import { createCallContext, createCallFinder } from "./nested-run-calls.ts"
import { createStepRecorder, type StepRecorder } from "./steps-to-events.ts"

export interface PromptSender {
  /** Sends the prompt, and resends it after temporary failures. `again`: a usage limit has reset, and the CLI shall
   *  continue. */
  send(again: boolean): Promise<TurnResult>
  /** The usage so far, as far as known. */
  used(): Usage
  /** Stops the timers and emits pending events. */
  stop(): void
  /** The limit that was reached, if one was. */
  readonly stopReason: StopReason | undefined
  readonly recorder: StepRecorder
}

export function createPromptSender(
  control: RunControl,
  { provider, config, prompt }: { provider: Provider; config: CliConfig; prompt: UserMessage },
  conversation: CliConversation,
): PromptSender {
  const { limits } = config
  const watch = createStopwatch(limits.timeMs)
  const limited = new AbortController()
  const signal = AbortSignal.any([control.signal, watch.expired, limited.signal])
  const policy = setCallPolicy(control.context, {
    approver: config.approver,
    approvalTimeoutMs: config.approvalTimeoutMs,
    hooks: config.hooks,
    budgets: [{ ...limits, counts: noCalls() }],
  })
  let stopReason: StopReason | undefined
  let usedBefore: Usage = noUsage
  let currentTurn: Usage = noUsage
  let model = config.settings.model
  let cycles = 0

  const recorder = createStepRecorder({
    control,
    source: provider.name,
    now: Date.now,
    activeMs: watch.activeMs,
    mayStartCycle(count) {
      cycles = count
      stopReason ??= reached() ?? control.limitReachedAbove()
      if (stopReason) limited.abort()
      return stopReason === undefined
    },
  })
  const used = () => addUsage(addUsage(usedBefore, cost(currentTurn)), control.spent())
  const cost = (usage: Usage) => withCost(usage, priceOf(provider, model, config.prices))
  function reached(): StopReason | undefined {
    const usage = used()
    const spent = { cycle: cycles, usage, activeMs: watch.activeMs() }
    const isUnpriced = usage.costUsd === undefined && (totalTokens(usage) ?? 0) > 0
    // A cost limit cannot be enforced without a price, so the run stops.
    return (
      reachedLimit(spent, { cycles: Infinity, ...limits }) ??
      (limits.costUsd !== undefined && isUnpriced ? "unknown-usage" : undefined)
    )
  }

  const limitsCost = limits.costUsd !== undefined
  control.setBudget({ reachedLimit: reached, pauseWhile: watch.withClockPaused, limitsCost })

  const gate = {
    ...policy,
    approved: conversation.approved,
    ...approvalAnswers(control),
  }
  const host: McpHost = {
    ...gate,
    emit: (body) => void (isReportedByCli(body) || control.emit(body)),
    run: control.context,
    // The server may have been started by an earlier run, in another async context.
    within: AsyncLocalStorage.snapshot(),
    signal,
    activeMs: watch.activeMs,
    pauseSignal: watch.pauseSignal,
    caller: setHookCaller(control.context, config.name, { session: conversation.sessionId, metadata: config.metadata }),
    leftMs: watch.leftMs,
  }

  const idOf = createCallFinder(recorder.calls)
  const hostOf = (call: McpCall) => ({ ...host, run: createCallContext(control.context, () => idOf(call)) })

  const services: TurnServices = {
    signal,
    report(step) {
      if (signal.aborted) return
      if (step.type === "model") model = step.id
      if (step.type !== "usage") return recorder.record(step)
      currentTurn = step.usage
      recorder.record({ type: "usage", usage: addUsage(usedBefore, cost(currentTurn)) })
    },
    async approve({ id, name, input }) {
      const call = { id, binding: name, args: [input], approve: true, signal }
      try {
        await requireApproval(call, gate, control.emit)
        return "allow"
      } catch (error) {
        if (signal.aborted) throw error
        return "deny"
      }
    },
    takeSteering: () => emitSteering(control.takeSteered()),
  }

  function emitSteering(texts: string[]): string[] {
    for (const text of texts) control.emit({ type: "prompt-steered", message: userMessage(text, "steer") })
    return texts
  }

  function createContinueMessage(): UserMessage {
    // Emits what belongs before this message.
    recorder.finish()
    const message = userMessage("The usage limit is over. Go on with what you were doing.", "host")
    control.emit({ type: "prompt-steered", message })
    return message
  }

  async function settings(): Promise<TurnSettings> {
    const { env } = config.settings
    const program = requireProgram(provider, { program: config.program, env })
    const cwd = requireFolder(config.cwd)
    return { ...config.settings, program, cwd, servers: await conversation.serveTurn(config, hostOf) }
  }

  return {
    async send(again) {
      refuseImages(provider, prompt)
      // If the turn never started, resend the original prompt.
      const base = again && recorder.cycles > 0 ? createContinueMessage() : prompt
      const steering = emitSteering(conversation.pendingSteering.splice(0)).map((text) => ({
        type: "text" as const,
        text,
      }))
      const message = steering.length === 0 ? base : { ...base, parts: [...base.parts, ...steering] }
      const turn = { message, settings: await settings() }
      warnUnenforced(provider, turn.settings, conversation, control)
      for (let attempt = 0; ; attempt++) {
        const end = await conversation.session.turn(turn, services)
        currentTurn = noUsage
        usedBefore = addUsage(usedBefore, cost(end.usage))
        recorder.record({ type: "usage", usage: usedBefore })
        const { failure } = end
        if (!failure || attempt >= config.maxRetries || !mayResend(failure, recorder))
          return { ...end, usage: usedBefore }
        const message = `${failure.message} It is sent again (${attempt + 1} of ${config.maxRetries}).`
        control.emit({ type: "warning-raised", code: "turn-repeated", message })
      }
    },
    used,
    stop() {
      watch.stop()
      recorder.finish()
    },
    get stopReason() {
      return stopReason ?? (watch.expired.aborted ? "time" : undefined)
    },
    recorder,
  }
}

// A turn that has called something is not resent, so that no call is repeated.
function mayResend({ code }: ProviderError, { hasActed }: StepRecorder): boolean {
  return !hasActed && (code === "server-error" || code === "overloaded" || code === "connection")
}

function warnUnenforced(
  provider: Provider,
  settings: TurnSettings,
  { warnedOnce }: CliConversation,
  { emit }: Pick<RunControl, "emit">,
): void {
  for (const group of provider.unenforcedGroups(settings)) {
    if (warnedOnce.has(`unenforced ${group}`)) continue
    warnedOnce.add(`unenforced ${group}`)
    const message = `${provider.title} cannot be kept from "${group}": \`allow\` leaves it out, and it may be used all the same.`
    emit({ type: "warning-raised", code: "not-enforced", message })
  }
}

function refuseImages({ title, can }: Provider, { parts }: UserMessage): void {
  if (can.images || !parts.some((part) => part.type === "image")) return
  throw new UnsupportedError(`${title} does not accept images. Describe them in text, or use another CLI.`)
}

// The CLI reports its calls itself, with input and output, so events of our side would be duplicates.
function isReportedByCli({ type }: EventBody): boolean {
  return type.startsWith("tool-") || type.startsWith("code-")
}
