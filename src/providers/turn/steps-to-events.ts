// Turns the steps that a coding CLI reports into the events of a run and of its sub-agents' runs.
import type { RunControl } from "../../core/run.ts"
import type { Step } from "../provider.ts"
import type { CallResult, OpenCall, RunNarrator } from "./run-narrator.ts"
import { createRunNarrator, createSubAgentNarrator } from "./run-narrator.ts"

/** Emits the events of a run from steps. Sub-agents of the CLI become runs with `parent`, and with the `call` that
 *  started them in their metadata. */
export interface StepRecorder {
  record(step: Step): void
  /** Emits what is pending. Called when the turn is over. */
  finish(): void
  /** The last text. */
  readonly output: string
  /** Calls without a result so far. */
  readonly calls: ReadonlyMap<string, OpenCall>
  /** The number of model answers so far. */
  readonly cycles: number
  /** True if it has called a tool or changed a file. */
  readonly hasActed: boolean
  /** Files created or changed. */
  readonly files: readonly string[]
}

export interface StepRecorderOptions {
  control: Pick<RunControl, "id" | "emit" | "forward">
  source: string
  now(): number
  /** The time that the run has been active. Default: `now`. */
  activeMs?(): number
  /** Called before each model answer with the number of answers before it. If it returns false, later steps are
   *  ignored. */
  mayStartCycle?(count: number): boolean
}

export function createStepRecorder({
  control,
  source,
  now,
  activeMs = now,
  mayStartCycle = () => true,
}: StepRecorderOptions): StepRecorder {
  const files = new Set<string>()
  const calls = new Map<string, OpenCall>()
  /** By the id of the call that started them. */
  const subAgents = new Map<string, RunNarrator>()
  let model: string | undefined
  const answerer = () => ({ ...(model !== undefined && { model }), provider: source })
  const registry = { calls, now, activeMs, endCall, answerer }
  const own = createRunNarrator(control, mayStartCycle, registry)
  let hasActed = false

  function narratorOf(within: string | undefined): RunNarrator {
    if (within === undefined) return own
    const known = subAgents.get(within)
    if (known) return known
    const call = calls.get(within)
    const started = createSubAgentNarrator(control, within, call, call?.narrator.run ?? control.id, registry)
    subAgents.set(within, started)
    return started
  }

  // The sub-agent of a call ends before the call, unless it continues in the background.
  function endCall(result: CallResult): void {
    const { id, ok, text, detached } = result
    if (!detached) endAgent(id, ok, text)
    calls.get(id)?.narrator.endCall(result)
  }

  function endAgent(id: string, ok: boolean, text: string): void {
    const started = subAgents.get(id)
    subAgents.delete(id)
    started?.finish(ok, text)
  }

  return {
    calls,
    record(step) {
      switch (step.type) {
        case "text":
        case "reasoning":
          return narratorOf(step.within).addText(step)
        case "call":
          hasActed = true
          return narratorOf(step.within).startCall(step)
        case "agent":
          return void narratorOf(step.id)
        case "agent-end":
          return endAgent(step.id, step.ok, step.text)
        case "progress":
          return calls.get(step.id)?.narrator.progress(step.id, step.text)
        case "result":
          return endCall(step)
        case "files":
          hasActed = true
          for (const path of step.paths) files.add(path)
          return
        case "warning":
          return void control.emit({ type: "warning-raised", code: step.code, message: step.message })
        case "raw":
          return void control.emit({ type: "raw-received", source, data: step.data })
        case "model":
          model = step.id
          return
        case "usage":
          return own.setUsage(step.usage)
        case "key":
          return
        default:
          step satisfies never
      }
    },
    finish() {
      own.finish(false, "")
      // Sub-agents whose call was never reported.
      for (const id of subAgents.keys()) endCall({ id, ok: false, text: "It was ended with the run that started it." })
    },
    get output() {
      return own.output()
    },
    get cycles() {
      return own.cycles()
    },
    get hasActed() {
      return hasActed
    },
    get files() {
      return [...files]
    },
  }
}
