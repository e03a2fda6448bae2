import type { RunControl } from "../../core/run.ts"
import type { Step } from "../provider.ts"
import {
  type CallResult,
  createRunNarrator,
  createSubAgentNarrator,
  type OpenCall,
  type RunNarrator,
} from "./run-narrator.ts"

/** Makes the events of a run of what a CLI tells, sub-agents of its own included: those are runs of their own, with `parent`, and
 *  the `call` that started them in their metadata. */
export interface StepRecorder {
  record(step: Step): void
  /** Says what was not yet: called once, when the turn is over. */
  finish(): void
  /** The last text. */
  readonly output: string
  /** Its calls without a result so far. */
  readonly calls: ReadonlyMap<string, OpenCall>
  /** Answers of the model that the CLI went through. */
  readonly cycles: number
  /** Whether it has called a tool or changed a file. */
  readonly hasActed: boolean
  /** Files that were made or changed. */
  readonly files: readonly string[]
}

export interface StepRecorderOptions {
  control: Pick<RunControl, "id" | "emit" | "forward">
  source: string
  now(): number
  /** Asked before an answer of the model begins, with the number of those before it. What is said after a no is not told. */
  mayStartCycle?(count: number): boolean
}

export function createStepRecorder({
  control,
  source,
  now,
  mayStartCycle: mayAnswer = () => true,
}: StepRecorderOptions): StepRecorder {
  const files = new Set<string>()
  const calls = new Map<string, OpenCall>()
  /** By the call that started them. */
  const subAgents = new Map<string, RunNarrator>()
  let model: string | undefined
  const answerer = () => ({ ...(model !== undefined && { model }), provider: source })
  const place = { calls, now, endCall, answerer }
  const own = createRunNarrator(control, mayAnswer, place)
  let acted = false

  function voiceOf(within: string | undefined): RunNarrator {
    if (within === undefined) return own
    const known = subAgents.get(within)
    if (known) return known
    const call = calls.get(within)
    const started = createSubAgentNarrator(control, within, call, call?.narrator.run ?? control.id, place)
    subAgents.set(within, started)
    return started
  }

  // The sub-agent of a call ends before the call, unless it goes on in the background.
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
          return voiceOf(step.within).addText(step)
        case "call":
          acted = true
          return voiceOf(step.within).startCall(step)
        case "agent":
          return void voiceOf(step.id)
        case "agent-end":
          return endAgent(step.id, step.ok, step.text)
        case "progress":
          return calls.get(step.id)?.narrator.progress(step.id, step.text)
        case "result":
          return endCall(step)
        case "files":
          acted = true
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
      // Those of calls that nobody has told of.
      for (const id of subAgents.keys()) endCall({ id, ok: false, text: "It was ended with the run that started it." })
    },
    get output() {
      return own.output()
    },
    get cycles() {
      return own.cycles()
    },
    get hasActed() {
      return acted
    },
    get files() {
      return [...files]
    },
  }
}
