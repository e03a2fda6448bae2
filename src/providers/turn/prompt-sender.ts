import { AsyncLocalStorage } from "node:async_hooks"
import { readersAsApprover, requireApproval } from "../../actions/approval.ts"
import { setCallPolicy } from "../../actions/call-policy.ts"
import { createStopwatch, noCalls, reachedLimit } from "../../actions/run-limits.ts"
import { errorData, type ProviderError, UnsupportedError } from "../../core/errors.ts"
import type { EventBody, StopReason } from "../../core/event.ts"
import { type UserMessage, userMessage } from "../../core/message.ts"
import type { RunControl } from "../../core/run.ts"
import { addUsage, noUsage, totalTokens, type Usage, withCost } from "../../core/usage.ts"
import type { McpCall, McpHost } from "../../mcp/mcp-types.ts"
import type { CliConversation } from "../cli-conversation.ts"
import { requireFolder, requireProgram } from "../find-program.ts"
import { type CliConfig, priceOf } from "../options.ts"
import type { Provider, TurnResult, TurnServices, TurnSettings } from "../provider.ts"
import { createCallContext, createCallFinder } from "./nested-runs.ts"
import { createStepRecorder, type StepRecorder } from "./steps-to-events.ts"

/** The prompt of a run on its way through a CLI, within the limits of the run. */
export interface PromptSender {
  /** Sends the prompt, again where it failed for a passing reason. `again`: after a limit is over, the CLI shall go on. */
  send(again: boolean): Promise<TurnResult>
  /** By now, as far as it is known. */
  used(): Usage
  /** Stops its clocks, and says what was not said yet. */
  stop(): void
  /** The limit that was reached. */
  readonly stopReason: StopReason | undefined
  readonly recorder: StepRecorder
}

export function createPromptSender(
  control: RunControl,
  { provider, config, prompt }: { provider: Provider; config: CliConfig; prompt: UserMessage },
  shared: CliConversation,
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
  let reason: StopReason | undefined
  let before: Usage = noUsage
  let live: Usage = noUsage
  let model = config.settings.model
  let cycles = 0
  let isWarned = false

  const told = createStepRecorder({
    control,
    source: provider.name,
    now: Date.now,
    mayStartCycle(count) {
      cycles = count
      reason ??= reached() ?? control.limitReachedAbove()
      if (reason) limited.abort()
      return reason === undefined
    },
  })
  const used = () => addUsage(addUsage(before, cost(live)), control.spent())
  const cost = (usage: Usage) => withCost(usage, model === undefined ? provider.price : priceOf(provider, model))
  function reached(): StopReason | undefined {
    const usage = used()
    const spent = { cycle: cycles, usage, activeMs: watch.activeMs() }
    const isUnpriced = usage.costUsd === undefined && (totalTokens(usage) ?? 0) > 0
    // What cannot be priced cannot be limited.
    return (
      reachedLimit(spent, { cycles: Infinity, ...limits }) ??
      (limits.costUsd !== undefined && isUnpriced ? "unknown-usage" : undefined)
    )
  }

  control.setBudget({ reachedLimit: reached, pauseWhile: watch.paused, limitsCost: limits.costUsd !== undefined })

  const gate = {
    ...policy,
    approved: shared.approved,
    watcher: readersAsApprover(control),
    questionId: control.claimApprovalId,
    paused: control.pauseClocks,
  }
  const host: McpHost = {
    ...gate,
    emit: (body) => void (isReportedByCli(body) || control.emit(body)),
    run: control.context,
    // The server may have been opened by an earlier run, elsewhere.
    within: AsyncLocalStorage.snapshot(),
    signal,
    now: Date.now,
    pauses: watch.pauses,
    caller: { run: control.id, parent: control.context.parent?.id, agent: config.name },
    leftMs: watch.leftMs,
  }

  const idOf = createCallFinder(told.calls)
  const hostOf = (call: McpCall) => ({ ...host, run: createCallContext(control.context, () => idOf(call)) })

  const services: TurnServices = {
    signal,
    report(step) {
      if (signal.aborted) return
      if (step.type === "model") model = step.id
      if (step.type !== "usage") return told.record(step)
      live = step.usage
      told.record({ type: "usage", usage: addUsage(before, cost(live)) })
    },
    async approve({ id, name, input }) {
      const call = { id, binding: name, args: [input], approve: true, signal }
      try {
        await requireApproval(call, gate, control.emit)
        return "allow"
      } catch (error) {
        if (signal.aborted) throw error
        warnWithoutApprover(error)
        return "deny"
      }
    },
    takeSteering: () => heard(control.takeSteered()),
  }

  // The CLI is told only that the call is refused, so the host is told why.
  function warnWithoutApprover(error: unknown): void {
    if (isWarned || policy.approver !== undefined || control.readersApprove()) return
    isWarned = true
    control.emit({ type: "warning-raised", code: "no-approver", message: errorData(error).message })
  }

  function heard(texts: string[]): string[] {
    for (const text of texts) control.emit({ type: "prompt-steered", message: userMessage(text, "steer") })
    return texts
  }

  function goOn(): UserMessage {
    // What it was about to say belongs before.
    told.finish()
    const message = userMessage("The usage limit is over. Go on with what you were doing.", "host")
    control.emit({ type: "prompt-steered", message })
    return message
  }

  async function settings(): Promise<TurnSettings> {
    const { env } = config.settings
    const program = requireProgram(provider, { program: config.program, env })
    const cwd = requireFolder(config.cwd)
    return { ...config.settings, program, cwd, servers: await shared.serveTurn(config, hostOf) }
  }

  return {
    async send(again) {
      refuseImages(provider, prompt)
      // What was not begun is asked for once more.
      const asked = again && told.cycles > 0 ? goOn() : prompt
      const said = heard(shared.pendingSteering.splice(0)).map((text) => ({ type: "text" as const, text }))
      const message = said.length === 0 ? asked : { ...asked, parts: [...asked.parts, ...said] }
      const turn = { message, settings: await settings() }
      warnUnenforced(provider, turn.settings, shared, control)
      for (let attempt = 0; ; attempt++) {
        const end = await shared.session.turn(turn, services)
        live = noUsage
        before = addUsage(before, cost(end.usage))
        told.record({ type: "usage", usage: before })
        const { failure } = end
        if (!failure || attempt >= config.retries || !mayResend(failure, told)) return { ...end, usage: before }
        const message = `${failure.message} It is sent again (${attempt + 1} of ${config.retries}).`
        control.emit({ type: "warning-raised", code: "turn-repeated", message })
      }
    },
    used,
    stop() {
      watch.stop()
      told.finish()
    },
    get stopReason() {
      return reason ?? (watch.expired.aborted ? "time" : undefined)
    },
    recorder: told,
  }
}

// What is done again was not done before: a turn that has called something is not sent twice.
function mayResend({ code }: ProviderError, { hasActed: acted }: StepRecorder): boolean {
  return !acted && (code === "server-error" || code === "overloaded" || code === "connection")
}

function warnUnenforced(
  provider: Provider,
  settings: TurnSettings,
  { warnedOnce: told }: CliConversation,
  { emit }: Pick<RunControl, "emit">,
): void {
  for (const group of provider.unenforcedGroups(settings)) {
    if (told.has(`unenforced ${group}`)) continue
    told.add(`unenforced ${group}`)
    const message = `${provider.title} cannot be kept from "${group}": \`allow\` leaves it out, and it may be used all the same.`
    emit({ type: "warning-raised", code: "not-enforced", message })
  }
}

function refuseImages({ title, can }: Provider, { parts }: UserMessage): void {
  if (can.images || !parts.some((part) => part.type === "image")) return
  throw new UnsupportedError(`${title} takes no images. Describe what is to be seen, or use another CLI.`)
}

// The CLI tells of its calls itself, with what went in and what came out.
function isReportedByCli({ type }: EventBody): boolean {
  return type.startsWith("tool-") || type.startsWith("code-")
}
