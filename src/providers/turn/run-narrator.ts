// Emits the events of one run of a coding CLI, or of one of its sub-agents: cycles, messages, calls and their results.
import type { AgentEvent, EventBody } from "../../core/event.ts"
import type { Json } from "../../core/json.ts"
import { type AssistantMessage, newId, userMessage } from "../../core/message.ts"
import type { RunControl } from "../../core/run.ts"
import { noUsage, subtractUsage, type Usage } from "../../core/usage.ts"
import type { Step } from "../provider.ts"
import { textAt } from "../read-json.ts"

export interface RunNarrator {
  /** The id of the run. */
  readonly run: string
  addText(step: Extract<Step, { type: "text" | "reasoning" }>): void
  startCall(step: Extract<Step, { type: "call" }>): void
  progress(call: string, text: string): void
  endCall(result: CallResult): void
  /** Sets the total usage of the turn so far. */
  setUsage(usage: Usage): void
  /** Emits what is pending; calls without a result get one. */
  finish(ok: boolean, text: string): void
  /** The last text. */
  output(): string
  cycles(): number
}

export type CallResult = Omit<Extract<Step, { type: "result" }>, "type">

/** A call without a result so far. */
export interface OpenCall {
  name: string
  input: Json
  /** On the clock of `activeMs`. */
  startedAt: number
  /** The narrator of the run that made the call. */
  narrator: Pick<RunNarrator, "run" | "endCall" | "progress">
}

/** What the narrators of one turn share. */
export interface CallRegistry {
  calls: Map<string, OpenCall>
  now(): number
  /** The time that the run has been active; it stands still while a person decides. */
  activeMs(): number
  /** The model and the provider that answer, if known. */
  answerer(): { model?: string; provider?: string }
  /** Ends a call of any run. */
  endCall(result: CallResult): void
}

export function createRunNarrator(
  { id, emit }: Pick<RunControl, "id" | "emit">,
  mayStartCycle: (count: number) => boolean,
  registry: CallRegistry,
): RunNarrator {
  return createNarrator(id, emit, mayStartCycle, registry)
}

/** The narrator of a sub-agent that a call of the CLI has started: a run within the run. */
export function createSubAgentNarrator(
  { forward }: Pick<RunControl, "forward">,
  within: string,
  call: OpenCall | undefined,
  parent: string,
  registry: CallRegistry,
): RunNarrator {
  const run = newId("run")
  let seq = 0
  const emit = (body: EventBody) => {
    const event: AgentEvent = { ...body, run, parent, seq: seq++, at: registry.now() }
    forward(event)
  }
  const prompt = textAt(call?.input, "prompt")
  emit({
    type: "run-start",
    agent: textAt(call?.input, "subagent_type") ?? call?.name ?? "agent",
    messages: prompt === undefined ? [] : [userMessage(prompt)],
    metadata: { call: within },
  })
  const inner = createNarrator(run, emit, () => true, registry)
  return {
    ...inner,
    finish(ok, text) {
      inner.finish(ok, text)
      // Its usage is part of its parent's usage.
      const end = { output: text, cycles: inner.cycles(), usage: unknownUsage }
      if (ok) emit({ type: "run-end", status: "done", ...end })
      else emit({ type: "run-end", status: "failed", ...end, error: { name: "ProviderError", message: text } })
    },
  }
}

// CLIs report the usage of a turn, not of each answer.
const unknownUsage: Usage = { complete: false }

function createNarrator(
  run: string,
  emit: (body: EventBody) => unknown,
  mayStartCycle: (count: number) => boolean,
  { calls, activeMs, endCall, answerer }: CallRegistry,
): RunNarrator {
  let total: Usage = noUsage
  let counted: Usage = noUsage
  let parts: AssistantMessage["parts"] = []
  let streamed = false
  let cycles = 0
  let isOpen = false
  let answer: string | undefined
  let hasResult = false
  let output = ""

  // A new model answer, and so a new cycle, starts with another id or, without ids, after a result. Returns false if
  // the cycle must not start.
  function continueOrStartCycle(id: string | undefined): boolean {
    const isSameAnswer = isOpen && (id === undefined ? !hasResult : id === answer)
    answer = id
    if (isSameAnswer) return true
    endCycle()
    if (!mayStartCycle(cycles)) return false
    isOpen = true
    hasResult = false
    emit({ type: "cycle-start", cycle: ++cycles })
    return true
  }

  function flush(finish: string): void {
    if (parts.length === 0) return
    const message: AssistantMessage = { id: newId("m"), role: "assistant", parts }
    parts = []
    emit({ type: "message-end", message, finish, usage: unknownUsage, ...answerer() })
  }

  function endCycle(): void {
    flush("stop")
    if (isOpen) {
      emit({
        type: "cycle-end",
        cycle: cycles,
        usage: total === counted ? unknownUsage : subtractUsage(total, counted),
      })
      counted = total
    }
    isOpen = false
  }

  const self: RunNarrator = {
    run,
    addText(step) {
      if (!continueOrStartCycle(step.answer)) return
      const type = step.type === "text" ? "text-delta" : "reasoning-delta"
      if (step.delta || !streamed) emit({ type, text: step.text })
      streamed = step.delta === true
      if (step.delta) return
      parts.push({ type: step.type, text: step.text })
      if (step.type === "text") output = step.text
    },
    startCall({ id, name, input, answer: of }) {
      if (calls.has(id) || !continueOrStartCycle(of)) return
      parts.push({ type: "tool-call", id, name, input })
      flush("tool-calls")
      calls.set(id, { name, input, startedAt: activeMs(), narrator: self })
      emit({ type: "tool-start", id, name, input })
    },
    setUsage(usage) {
      total = usage
    },
    progress: (id, text) => void emit({ type: "tool-delta", id, text }),
    endCall({ id, ok, text, images, refused }) {
      const known = calls.get(id)
      if (!known) return
      calls.delete(id)
      flush("stop")
      hasResult = true
      emit({
        type: "tool-end",
        id,
        name: known.name,
        ok,
        text,
        durationMs: Math.round(activeMs() - known.startedAt),
        ...(!ok && { error: { kind: refused ? "refused" : "throw", message: text } }),
        ...(images && { images }),
      })
    },
    finish() {
      const open = [...calls].filter(([, call]) => call.narrator === self)
      for (const [id] of open) endCall({ id, ok: false, text: "The turn ended before it did." })
      endCycle()
    },
    output: () => output,
    cycles: () => cycles,
  }
  return self
}
