// Turns events into comparable steps, and finds the first difference between two runs.
import type { AgentEvent } from "../../core/event.ts"
import { type AssistantMessage, fenced, type Message, messageText } from "../../core/message.ts"
import { textDiff } from "../../core/text/text-diff.ts"
import { createOwnEventFilter } from "../../core/trajectory.ts"

/** One step of a run as comparable text: without ids, times and costs. */
export interface Step {
  what: string
  text: string
}

export interface Divergence {
  /** The run, counted from 0, and the step in it. */
  run: number
  step: number
  /** The recorded and the actual text; empty if there is none. */
  expected: string
  actual: string
  /** A full description with a diff. */
  message: string
}

export interface StepOptions {
  strict: boolean
  mask(text: string): string
}

/** Returns the steps of a run: prompts, answers of the model, results, and the end of the run. */
export function stepsOf(events: readonly AgentEvent[], { strict, mask }: StepOptions): Step[] {
  const isOwn = createOwnEventFilter()
  return events.flatMap((event) => {
    const step = isOwn(event) ? stepOf(event, strict) : undefined
    return step ? [{ ...step, text: mask(step.text) }] : []
  })
}

/** Returns the events of the run itself, without sub-agents, with tool ends in the order of the calls, because parallel
 *  calls may end in any order. */
export function inCallOrder(events: readonly AgentEvent[]): AgentEvent[] {
  const own = events.filter(createOwnEventFilter())
  const position = new Map<string, number>()
  for (const event of own) {
    if (event.type !== "message-end") continue
    for (const part of event.message.parts) if (part.type === "tool-call") position.set(part.id, position.size)
  }
  const ends = own.filter((event) => event.type === "tool-end")
  ends.sort((one, other) => (position.get(one.id) ?? -1) - (position.get(other.id) ?? -1))
  return own.map((event) => (event.type === "tool-end" ? (ends.shift() ?? event) : event))
}

export function divergence(
  expected: readonly Step[],
  actual: readonly Step[],
  run: number,
  missing: readonly string[],
): Divergence | undefined {
  const length = Math.max(expected.length, actual.length)
  for (let step = 0; step < length; step++) {
    const [before, now] = [expected[step], actual[step]]
    if (before?.what === now?.what && before?.text === now?.text) continue
    const found = { run, step, expected: shown(before), actual: shown(now) }
    const known = missing.map((what) => `\n\nThe recording does not have ${what}.`).slice(0, 1)
    const place = `Run ${run + 1}, step ${step + 1} (${(before ?? now)?.what}) went another way than recorded`
    return { ...found, message: `${place}:\n\n${textDiff(found.expected, found.actual)}${known.join("")}` }
  }
  return undefined
}

function stepOf(event: AgentEvent, strict: boolean): Step | undefined {
  switch (event.type) {
    case "run-start": {
      const said = event.messages.filter((message) => strict || isPrompt(message)).map(messageText)
      return { what: "prompt", text: [...(strict && event.system ? [event.system] : []), ...said].join("\n\n") }
    }
    case "message-end":
      return { what: "the model's answer", text: answerText(event.message) }
    case "prompt-steered":
      return strict || event.message.origin === "steer"
        ? { what: "what was said to the model", text: messageText(event.message) }
        : undefined
    case "code-end":
      return { what: event.ok ? "the result of a cell" : "the error of a cell", text: event.text }
    case "tool-end":
      return { what: `the ${event.ok ? "result" : "failure"} of the tool ${event.name}`, text: event.text }
    case "run-end": {
      const { status, output, reason, error } = event
      return { what: "the end", text: [status, reason, error?.message, output].filter(Boolean).join("\n") }
    }
    default:
      return undefined
  }
}

function isPrompt(message: Message): boolean {
  return message.role === "user" && message.origin === "prompt"
}

function answerText({ parts }: AssistantMessage): string {
  const texts = parts.map((part) => {
    if (part.type === "text") return part.text.trim()
    if (part.type === "code") return fenced(part)
    return part.type === "tool-call" ? `${part.name} ${JSON.stringify(part.input)}` : ""
  })
  return texts.filter(Boolean).join("\n")
}

function shown(step: Step | undefined): string {
  return step ? `${step.what}:\n${step.text}` : ""
}
