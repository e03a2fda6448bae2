// Turns the events of a trajectory into numbered steps: prompts, answers with their actions, and the steps of
// sub-agents below the step that started them.
import { callName } from "../../actions/preview-call.ts"
import type { AgentEvent, EventOf } from "../../core/event.ts"
import { type AssistantMessage, type ImagePart, type Message, messageText } from "../../core/message.ts"
import { totalTokens, type Usage } from "../../core/usage.ts"
import { callText, splitActionText } from "../../display/event-text.ts"

export interface Step {
  /** `7` for the trajectory's own runs; `12/3` for the third step of the sub-agents that step 12 started. */
  address: string
  /** `karst`: a message of Karst itself, such as a reminder. `end`: a run that did not end as done. */
  kind: "user" | "karst" | "agent" | "end"
  agent: string
  run: string
  at: number
  text: string
  images: readonly ImagePart[]
  /** The parts of an answer, in order. */
  parts: AssistantMessage["parts"]
  actions: Action[]
  /** What happened besides: approvals, warnings, changes of the provider. */
  notes: string[]
  model?: string
  usage?: Usage
  /** The steps of sub-agents. */
  children: Step[]
  /** The events of the step, with those of its sub-agents. */
  events: AgentEvent[]
}

/** A cell or a tool call. */
export interface Action {
  id: string
  /** The name of the tool; undefined for a cell. */
  tool: string | undefined
  /** The code of the cell, or the input of the tool as JSON. */
  source: string
  language: string
  /** Undefined if it has not ended. */
  ok?: boolean
  output: string
  error: string
  durationMs?: number
  calls: FunctionCall[]
  images: readonly ImagePart[]
}

/** A call of an injected function inside a cell. */
export interface FunctionCall {
  name: string
  text: string
  ok?: boolean
  error?: string
}

export function stepsOf(events: Iterable<AgentEvent>): Step[] {
  const steps: Step[] = []
  const runs = new Map<string, RunSteps>()
  for (const event of events) {
    const known = runs.get(event.run)
    const run = known ?? openRun(event, runs, steps)
    if (!known) runs.set(event.run, run)
    run.add(event)
    for (const above of ancestorsOf(event, runs)) above.addNested(event)
  }
  return steps
}

/** All steps in the order in which they are shown. */
export function allSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [step, ...allSteps(step.children)])
}

interface RunSteps {
  readonly parent: string | undefined
  last(): Step | undefined
  add(event: AgentEvent): void
  addNested(event: AgentEvent): void
}

function openRun(event: AgentEvent, runs: ReadonlyMap<string, RunSteps>, steps: Step[]): RunSteps {
  const above = event.parent === undefined ? undefined : runs.get(event.parent)?.last()
  const parent = above ? event.parent : undefined
  return createRunSteps(above?.children ?? steps, above ? `${above.address}/` : "", parent)
}

function* ancestorsOf({ parent }: AgentEvent, runs: ReadonlyMap<string, RunSteps>): Iterable<RunSteps> {
  const seen = new Set<string>()
  for (let id = parent; id !== undefined && !seen.has(id); id = runs.get(id)?.parent) {
    seen.add(id)
    const run = runs.get(id)
    if (run) yield run
  }
}

function createRunSteps(list: Step[], prefix: string, parent: string | undefined): RunSteps {
  const actions = new Map<string, Action>()
  const calls = new Map<string, FunctionCall>()
  let agent = ""
  let last: Step | undefined
  /** The events since the start of a cycle. They belong to the answer that follows. */
  let unassigned: AgentEvent[] = []
  let isBeforeAnswer = true

  function addStep(event: AgentEvent, kind: Step["kind"], about: Partial<Step>): Step {
    const step: Step = {
      address: `${prefix}${list.length + 1}`,
      kind,
      agent,
      run: event.run,
      at: event.at,
      text: "",
      images: [],
      parts: [],
      actions: [],
      notes: [],
      children: [],
      ...about,
      events: unassigned,
    }
    for (const earlier of unassigned) step.notes.push(...noteOf(earlier))
    unassigned = []
    isBeforeAnswer = false
    list.push(step)
    last = step
    return step
  }

  function addMessages(event: AgentEvent, messages: readonly Message[]): void {
    for (const message of messages) {
      const kind = message.role === "user" && message.origin !== "host" ? "user" : "karst"
      addStep(event, kind, { text: messageText(message), images: imagesOf(message) })
    }
  }

  function addAnswer(event: EventOf<"message-end">): void {
    const { message, usage, model } = event
    const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
    const about = { text: text.trim(), parts: message.parts, usage, ...(model !== undefined && { model }) }
    const step = addStep(event, "agent", about)
    for (const part of message.parts) {
      if (part.type === "code") addAction(step, part.id, undefined, part.code, part.tag)
      if (part.type === "tool-call")
        addAction(step, part.id, part.name, JSON.stringify(part.input, undefined, 2), "json")
    }
  }

  function addAction(step: Step, id: string, tool: string | undefined, source: string, language: string): Action {
    const action: Action = { id, tool, source, language, output: "", error: "", calls: [], images: [] }
    actions.set(id, action)
    step.actions.push(action)
    return action
  }

  function endAction(event: EventOf<"code-end" | "tool-end">): void {
    const tool = event.type === "tool-end" ? event.name : undefined
    const action = actions.get(event.id) ?? (last && addAction(last, event.id, tool, "", ""))
    if (!action) return
    Object.assign(action, splitActionText(event), { ok: event.ok, durationMs: event.durationMs })
    action.images = event.images ?? []
  }

  function startCall({ id, within, call }: EventOf<"call-start">): void {
    const started: FunctionCall = { name: callName(call), text: callText(call) }
    calls.set(id, started)
    actions.get(within)?.calls.push(started)
  }

  function endCall({ id, ok, error }: EventOf<"call-end">): void {
    const call = calls.get(id)
    if (call) Object.assign(call, { ok, ...(error !== undefined && { error }) })
  }

  function fold(event: AgentEvent): void {
    switch (event.type) {
      case "run-start":
        agent = event.agent
        return addMessages(event, event.messages)
      case "prompt-steered":
        return addMessages(event, [event.message])
      case "message-end":
        return addAnswer(event)
      case "code-end":
      case "tool-end":
        return endAction(event)
      case "tool-start": {
        const isNew = last && !actions.has(event.id)
        if (last && isNew) addAction(last, event.id, event.name, JSON.stringify(event.input, undefined, 2), "json")
        return
      }
      case "call-start":
        return startCall(event)
      case "call-end":
        return endCall(event)
      case "cycle-end":
        if (last?.kind === "agent" && totalTokens(last.usage ?? event.usage) === undefined) last.usage = event.usage
        return
      case "run-end":
        if (event.status !== "done") addStep(event, "end", { text: endText(event) })
        return
      default:
        if (!isBeforeAnswer) last?.notes.push(...noteOf(event))
    }
  }

  return {
    parent,
    last: () => last,
    add(event) {
      if (event.type === "cycle-start") isBeforeAnswer = true
      const wasBeforeAnswer = isBeforeAnswer && event.type !== "message-end"
      fold(event)
      if (wasBeforeAnswer && isBeforeAnswer) unassigned.push(event)
      else last?.events.push(event)
    },
    addNested: (event) => void (isBeforeAnswer ? unassigned : last?.events)?.push(event),
  }
}

function imagesOf({ parts }: Message): ImagePart[] {
  return parts.filter((part) => part.type === "image")
}

function noteOf(event: AgentEvent): string[] {
  switch (event.type) {
    case "approval-requested":
      return [`asked for approval of ${callText(event.call)}`]
    case "approval-resolved":
      return [event.decision === "deny" ? "denied" : `approved (${event.decision})`]
    case "question-asked":
      return [`asked: ${event.question}`]
    case "memory-compacted":
      return ["older messages were made shorter"]
    case "skill-activated":
      return [`skill ${event.name}`]
    case "provider-changed":
      return [`went on with ${event.to} instead of ${event.from}: ${event.reason}`]
    case "limit-waiting":
      return [`waited until ${new Date(event.until).toISOString()}: ${event.reason}`]
    case "warning-raised":
      return [`warning: ${event.message}`]
    default:
      return []
  }
}

function endText({ status, reason, detail, pending, error }: EventOf<"run-end">): string {
  if (error) return `${status}: ${error.message}`
  if (pending?.kind === "question") return `${status} for an answer: ${pending.question}`
  if (pending) return `${status} for approval of ${callText(pending.call)}`
  return [status, ...(reason ? [`limit on ${reason}`] : []), ...(detail === undefined ? [] : [detail])].join(": ")
}
