// Agents with scripted models, and helpers to read the events of their runs.
import assert from "node:assert/strict"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { RunResult } from "../../src/core/agent.ts"
import type { AgentEvent, EventOf, EventType } from "../../src/core/event.ts"
import { type ScriptedModel, type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"

/** An answer that runs a cell. */
export const cell = (code: string, tag = "ts") => `\`\`\`${tag}\n${code}\n\`\`\`\n`

/** The usage that these models report for every request. */
export const usage = { input: 10, output: 5, complete: true }

export type Options = Partial<Parameters<typeof createAgent>[0]>

/** An agent that gives the scripted answers. */
export function scriptedAgent(name: string, steps: readonly ScriptedStep[], options: Options = {}) {
  return createAgent({ name, model: scriptedModel(steps, { usage }), ...options })
}

/** The result of the nth cell as the model saw it. */
export function resultShownToModel(model: ScriptedModel, nth = 1): string {
  const parts = model.requests[nth]?.messages.at(-1)?.parts ?? []
  return parts.map((part) => ("text" in part ? part.text : "")).join("\n")
}

/** Collects the events and the result of a run. */
export async function collectRun(run: AsyncIterable<AgentEvent> & { settled: Promise<RunResult> }) {
  const events = await Array.fromAsync(run)
  return { events, result: await run.settled }
}

/** Returns the only event of a type in the runs of an agent. */
export function onlyEvent<T extends EventType>(events: readonly AgentEvent[], type: T, agent?: string): EventOf<T> {
  const ids = runIdsOf(events, agent)
  const found = events.filter((event): event is EventOf<T> => event.type === type && ids.has(event.run))
  assert.equal(found.length, 1, `${found.length} ${type} of ${agent ?? "all"}`)
  return found[0] as EventOf<T>
}

/** The ids of the runs of an agent. */
export function runIdsOf(events: readonly AgentEvent[], agent?: string): Set<string> {
  const starts = events.filter((event) => event.type === "run-start")
  return new Set(starts.filter((event) => agent === undefined || event.agent === agent).map((event) => event.run))
}

/** A model request that lasts until it is aborted; `begun` resolves when it has started. */
export function endlessStep(): { step: ScriptedStep; begun: Promise<void> } {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const step: ScriptedStep = async ({ signal }) => {
    resolve()
    await new Promise<void>((wake) => signal?.addEventListener("abort", () => wake()))
    return "too late"
  }
  return { step, begun }
}
