// Replays recorded sessions and compares them with the recording.
import { AssertionError } from "node:assert"
import { internalsOf } from "../agent/agent-internals.ts"
import type { CodeAgent, CodeRunOptions } from "../agent/create-agent.ts"
import type { Run } from "../core/agent.ts"
import { checkOptionNames } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent, EventOf } from "../core/event.ts"
import { messageText, type PromptPart } from "../core/message.ts"
import { createOwnEventFilter, type Trajectory } from "../core/trajectory.ts"
import { loadRecording, type Recording, type RecordingSource } from "../sessions/load-recording.ts"
import { createReplayJournal } from "../sessions/replay-journal.ts"
import { type Divergence, divergence, inCallOrder, type Step, stepsOf } from "./replay/replay-steps.ts"

export interface ReplayCheckOptions {
  /** Functions and tools to call for real, as `binding` or `binding.method`, because their results are not data. */
  liveCalls?: readonly string[] | undefined
  /** Also compares the system prompt and the messages that Karst itself sent to the model. Default false. */
  strict?: boolean | undefined
  /** Normalises text that differs between runs, on both sides. Default: unchanged. */
  mask?: ((text: string) => string) | undefined
  /** Returns the options that each run was sent with, such as `outputs`. Runs count from 0. */
  options?: ((run: number) => CodeRunOptions) | undefined
}

/** The result of a replay. */
export interface Replayed {
  trajectory: Trajectory
  /** The first difference from the recording. */
  divergence?: Divergence | undefined
}

/** Sends the prompts of a recorded session again. Model answers, results of calls, time and randomness come from the
 *  recording: no model is asked, and no function or tool is called. Cells run in the agent's runtime. */
export async function replayRecording(
  agent: CodeAgent,
  source: RecordingSource,
  options: ReplayCheckOptions = {},
): Promise<Replayed> {
  checkReplayOptions("replayRecording()", options)
  const { liveCalls = [], strict = false, mask = (text) => text } = options
  const recording = await loadRecording(source)
  const open = internalsOf(agent)?.openReplaySession
  if (!open) throw new ConfigError(`The agent "${agent.name}" was not made by createAgent, and cannot be replayed.`)
  const missing: string[] = []
  const means = { liveCalls, onMissing: (what: string) => void missing.push(what) }
  const session = await open((run) => createReplayJournal(String(run), recording.entries, means))
  const steps = (events: readonly AgentEvent[]): Step[] => stepsOf(events, { strict, mask })
  try {
    for (const [index, recorded] of runsOf(recording).entries()) {
      const run = resend(recorded, options.options?.(index), (prompt, sent) => session.send(prompt, sent))
      const { trajectory } = await run.settled
      const { events, isCut } = beforeCut(inCallOrder(recorded))
      const expected = steps(events)
      const actual = steps(inCallOrder(trajectory.events)).slice(0, isCut ? expected.length : undefined)
      const found = divergence(expected, actual, index, missing)
      if (found) return { trajectory: session.trajectory(), divergence: found }
    }
    return { trajectory: session.trajectory() }
  } finally {
    await session.close()
  }
}

/** Fails if a recorded session now runs differently, and shows the first difference. */
export async function assertReplays(
  agent: CodeAgent,
  source: RecordingSource,
  options: ReplayCheckOptions = {},
): Promise<void> {
  checkReplayOptions("assertReplays()", options)
  const { divergence: found } = await replayRecording(agent, source, options)
  if (!found) return
  const { message, expected, actual } = found
  throw new AssertionError({ message, expected, actual, operator: "assertReplays" })
}

function checkReplayOptions(use: string, options: ReplayCheckOptions): void {
  checkOptionNames(use, options, "liveCalls", "strict", "mask", "options")
}

/** Returns the events of each top-level run. */
function runsOf({ events }: Recording): AgentEvent[][] {
  const runs = new Map<string, AgentEvent[]>()
  const isOwn = createOwnEventFilter()
  for (const event of events) {
    if (!isOwn(event)) continue
    const run = runs.get(event.run) ?? []
    runs.set(event.run, run)
    run.push(event)
  }
  return [...runs.values()]
}

type Send = (prompt: PromptPart[], sent: CodeRunOptions) => Run

// Repeats steering messages before the cycle that received them.
function resend(recorded: readonly AgentEvent[], sent: CodeRunOptions = {}, send: Send): Run {
  const steered = steeringByCycle(recorded)
  const steerBefore = (cycle: number) => {
    for (const text of steered.get(cycle) ?? []) run.steer(text)
  }
  const onEvent = (event: AgentEvent) => {
    if (event.type === "cycle-end" && event.run === run.id) steerBefore(event.cycle + 1)
  }
  const run = send(promptOf(recorded), { ...sent, onEvent })
  steerBefore(1)
  return run
}

function steeringByCycle(recorded: readonly AgentEvent[]): Map<number, string[]> {
  const steered = new Map<number, string[]>()
  let cycle = 1
  for (const event of recorded) {
    if (event.type === "cycle-start") cycle = event.cycle
    if (event.type !== "prompt-steered" || event.message.origin !== "steer") continue
    steered.set(cycle, [...(steered.get(cycle) ?? []), messageText(event.message)])
  }
  return steered
}

function promptOf(recorded: readonly AgentEvent[]): PromptPart[] {
  const start = recorded.find((event): event is EventOf<"run-start"> => event.type === "run-start")
  const prompt = start?.messages.findLast((message) => message.role === "user" && message.origin === "prompt")
  return (prompt?.parts ?? []).filter((part) => part.type === "text" || part.type === "image")
}

/** Returns the events before a run was interrupted from outside, which cannot be replayed. */
function beforeCut(recorded: readonly AgentEvent[]): { events: readonly AgentEvent[]; isCut: boolean } {
  const end = recorded.at(-1)
  const isWhole = end?.type === "run-end" && end.status !== "aborted" && end.error?.code !== "interrupted"
  if (isWhole) return { events: recorded, isCut: false }
  const cut = recorded.findIndex(
    (event) =>
      event.type === "run-end" ||
      ((event.type === "code-end" || event.type === "tool-end") && event.error?.kind === "aborted"),
  )
  return { events: cut < 0 ? recorded : recorded.slice(0, cut), isCut: true }
}
