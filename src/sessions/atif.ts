// Exports trajectories in the Agent Trajectory Interchange Format (ATIF).
import { checkOptionNames } from "../core/checks/check-options.ts"
import type { AgentEvent, EventOf } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { type AssistantMessage, type Message, messageText } from "../core/message.ts"
import { isRecord } from "../core/object.ts"
import { createOwnEventFilter, type Trajectory } from "../core/trajectory.ts"
import type { Usage } from "../core/usage.ts"

/** A trajectory in the Agent Trajectory Interchange Format. */
export interface Atif {
  schema_version: "ATIF-v1.4"
  session_id: string
  agent: { name: string; version: string; model_name?: string }
  steps: AtifStep[]
  final_metrics: AtifMetrics<"total_"> & { total_steps: number }
}

export interface AtifStep {
  step_id: number
  timestamp: string
  source: "system" | "user" | "agent"
  message: string
  reasoning_content?: string
  tool_calls?: { tool_call_id: string; function_name: string; arguments: { [key: string]: Json } }[]
  observation?: { results: { source_call_id: string; content: string }[] }
  metrics?: AtifMetrics<"">
  /** The model that answered; for a coding CLI, `extra` has the provider. */
  model_name?: string
  extra?: { provider: string }
}

type AtifMetrics<P extends string> = {
  [K in `${P}${"prompt_tokens" | "completion_tokens" | "cached_tokens" | "cost_usd"}`]?: number
}

/** Converts a trajectory to the Agent Trajectory Interchange Format. A cell becomes a call of `code`; the work of a
 *  sub-agent appears only as the result of its call. */
export function toAtif(trajectory: Trajectory, options: { version?: string | undefined } = {}): Atif {
  checkOptionNames("toAtif()", options, "version")
  const { agent, system, usage, startedAt, events, session, runs } = trajectory
  const steps: AtifStep[] = []
  const add = (at: number, step: Omit<AtifStep, "step_id" | "timestamp">) =>
    steps.push({ step_id: steps.length + 1, timestamp: new Date(at).toISOString(), ...step })
  if (system !== "") add(startedAt, { source: "system", message: system })
  const isOwn = createOwnEventFilter()
  let model: string | undefined
  for (const event of events) {
    if (!isOwn(event)) continue
    if (event.type === "run-start") model ??= event.model
    if (event.type === "message-end") model ??= event.model
    for (const message of incomingMessages(event)) add(event.at, messageStep(message))
    if (event.type === "message-end")
      add(event.at, { ...answerStep(event.message, event.usage), ...answerSource(event) })
    if (event.type === "cycle-end") addMetrics(steps, event.usage)
    if (event.type !== "code-end" && event.type !== "tool-end") continue
    const answer = steps.findLast((step) => step.source === "agent")
    answer?.observation?.results.push({ source_call_id: event.id, content: event.text })
  }
  return {
    schema_version: "ATIF-v1.4",
    session_id: session ?? runs[0]?.id ?? "unknown",
    agent: { name: agent, version: options.version ?? "unknown", ...(model !== undefined && { model_name: model }) },
    steps,
    final_metrics: { ...totalMetrics(usage), total_steps: steps.length },
  }
}

function answerSource({ model, provider }: EventOf<"message-end">): Pick<AtifStep, "model_name" | "extra"> {
  return {
    ...(model !== undefined && { model_name: model }),
    ...(provider !== undefined && { extra: { provider } }),
  }
}

// A coding CLI reports the usage of an answer after the answer.
function addMetrics(steps: AtifStep[], usage: Usage): void {
  const answer = steps.findLast((step) => step.source === "agent")
  if (answer && Object.keys(answer.metrics ?? {}).length === 0) answer.metrics = metricsOf(usage)
}

function incomingMessages(event: AgentEvent): readonly Message[] {
  if (event.type === "run-start" || event.type === "skill-activated") return event.messages
  return event.type === "prompt-steered" ? [event.message] : []
}

function messageStep(message: Message): Pick<AtifStep, "source" | "message"> {
  const isHost = message.role === "user" && message.origin === "host"
  const source = message.role === "assistant" ? "agent" : isHost ? "system" : "user"
  return { source, message: messageText(message) }
}

function answerStep({ parts }: AssistantMessage, usage: Usage): Omit<AtifStep, "step_id" | "timestamp"> {
  const textOf = (type: "text" | "reasoning") =>
    parts.flatMap((part) => (part.type === type ? [part.text] : [])).join("\n")
  const calls = parts.flatMap((part) => {
    if (part.type === "code") return [callOf(part.id, "code", { language: part.tag, code: part.code })]
    return part.type === "tool-call" ? [callOf(part.id, part.name, part.input)] : []
  })
  const reasoning = textOf("reasoning")
  return {
    source: "agent",
    message: textOf("text"),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls, observation: { results: [] } }),
    metrics: metricsOf(usage),
  }
}

function callOf(id: string, name: string, input: Json) {
  return { tool_call_id: id, function_name: name, arguments: isRecord(input) ? input : { input } }
}

function metricsOf({ input, output, cacheRead, costUsd }: Usage): AtifMetrics<""> {
  return {
    ...(input !== undefined && { prompt_tokens: input }),
    ...(output !== undefined && { completion_tokens: output }),
    ...(cacheRead !== undefined && { cached_tokens: cacheRead }),
    ...(costUsd !== undefined && { cost_usd: costUsd }),
  }
}

function totalMetrics(usage: Usage): AtifMetrics<"total_"> {
  return Object.fromEntries(Object.entries(metricsOf(usage)).map(([key, value]) => [`total_${key}`, value]))
}
