// The overview of a trajectory: agent, model, runs, tokens, cost, duration, and counts of cells, tools and calls.
import { type Trajectory, trajectory } from "../../core/trajectory.ts"
import { totalTokens, type Usage } from "../../core/usage.ts"
import { formatSeconds } from "../../display/event-text.ts"
import { formatTime } from "../print-table.ts"
import { allSteps, type Step, stepsOf } from "./steps.ts"

export interface TrajectoryView {
  record: Trajectory
  steps: Step[]
  overview: Overview
}

export interface Overview {
  session?: string | undefined
  agent: string
  models: string[]
  runs: number
  status?: string | undefined
  startedAt: number
  /** The time of the runs, without the time between them. */
  durationMs: number
  /** Answers of the model, without those of sub-agents. */
  turns: number
  steps: number
  /** The steps of sub-agents among them. */
  nestedSteps: number
  usage: Usage
  cells: Count
  tools: Count[]
  calls: Count[]
}

export interface Count {
  name: string
  count: number
  failed: number
}

/** Counts everything from the events, so that a file cannot claim anything else. */
export function viewOf(read: Trajectory): TrajectoryView {
  const record = { ...trajectory(read.events), ...(read.session !== undefined && { session: read.session }) }
  const steps = stepsOf(record.events)
  return { record, steps, overview: overviewOf(record, steps) }
}

function overviewOf(record: Trajectory, steps: readonly Step[]): Overview {
  const all = allSteps(steps)
  const actions = all.flatMap((step) => step.actions)
  const lastAt = record.events.at(-1)?.at ?? record.startedAt
  const starts = record.events.flatMap((event) => (event.type === "run-start" ? [event.model] : []))
  const models = [...starts, ...all.map(({ model }) => model)].filter((model) => model !== undefined)
  return {
    session: record.session,
    agent: record.agent,
    models: [...new Set(models)],
    runs: record.runs.length,
    status: record.runs.at(-1)?.status,
    startedAt: record.startedAt,
    durationMs: record.runs.reduce((sum, { startedAt, endedAt = lastAt }) => sum + (endedAt - startedAt), 0),
    turns: steps.filter(({ kind }) => kind === "agent").length,
    steps: all.length,
    nestedSteps: all.length - steps.length,
    usage: record.usage,
    cells: countsOf(actions.filter(({ tool }) => tool === undefined).map(({ ok }) => ({ name: "cells", ok })))[0] ?? {
      name: "cells",
      count: 0,
      failed: 0,
    },
    tools: countsOf(actions.flatMap(({ tool, ok }) => (tool === undefined ? [] : [{ name: tool, ok }]))),
    calls: countsOf(actions.flatMap(({ calls }) => calls)),
  }
}

function countsOf(used: readonly { name: string; ok?: boolean | undefined }[]): Count[] {
  const counts = new Map<string, Count>()
  for (const { name, ok } of used) {
    const count = counts.get(name) ?? { name, count: 0, failed: 0 }
    counts.set(name, count)
    count.count++
    if (ok === false) count.failed++
  }
  return [...counts.values()].sort((one, other) => other.count - one.count)
}

export function overviewRows(overview: Overview): [label: string, text: string][] {
  const { session, agent, models, runs, status, startedAt, durationMs, turns, steps, nestedSteps, usage } = overview
  const hasBegun = runs > 0
  const rows: [string, string | undefined][] = [
    ["session", session],
    ["agent", agent || undefined],
    ["model", hasBegun ? models.join(", ") || "unknown" : undefined],
    ["begun", hasBegun ? formatTime(startedAt) : undefined],
    ["runs", `${runs}${status === undefined ? "" : `, the last one ${status}`}`],
    ["turns", String(turns)],
    ["steps", `${steps}${nestedSteps === 0 ? "" : `, ${nestedSteps} of them of sub-agents`}`],
    ["tokens", hasBegun ? tokensText(usage) : undefined],
    ["cost", costText(usage)],
    ["duration", hasBegun ? formatSeconds(durationMs) : undefined],
    ["cells", overview.cells.count === 0 ? undefined : countText({ ...overview.cells, name: "" }).trim()],
    ["tools", overview.tools.map(countText).join(", ") || undefined],
    ["calls", overview.calls.map(countText).join(", ") || undefined],
  ]
  return rows.flatMap(([label, text]) => (text === undefined ? [] : [[label, text]]))
}

function countText({ name, count, failed }: Count): string {
  return `${name} ${count}${failed === 0 ? "" : ` (${failed} failed)`}`
}

export function tokensText(usage: Usage): string {
  if (totalTokens(usage) === undefined) return "unknown"
  const { input = 0, output = 0, cacheRead, complete } = usage
  const cached = cacheRead ? ` (${number(cacheRead)} cached)` : ""
  return `${complete ? "" : "at least "}${number(input)} in${cached}, ${number(output)} out`
}

export function costText({ costUsd, complete }: Usage): string | undefined {
  if (costUsd === undefined) return undefined
  return `${complete ? "" : "at least "}$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`
}

function number(count: number): string {
  return count.toLocaleString("en-US")
}
