// Helpers to script tool calls and to read their results.
import type { AgentEvent, EventOf } from "../../src/core/event.ts"
import type { Json } from "../../src/core/json.ts"
import type { Message, ToolCallPart, ToolResultPart } from "../../src/core/message.ts"
import type { ModelPart } from "../../src/models/model.ts"

let count = 0

/** A tool call as a model makes it. */
export function call(name: string, input: Json = {}, id = `call_${++count}`): ModelPart {
  return { type: "tool-call", id, name, input }
}

/** An answer that calls tools, perhaps with some text. */
export function calls(...parts: (ModelPart | string)[]): ModelPart[] {
  return parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part))
}

export const finish = (message = "Done."): ModelPart => call("finish", { message })

export function callsIn(messages: readonly Message[]): ToolCallPart[] {
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-call"))
}

export function resultsIn(messages: readonly Message[]): ToolResultPart[] {
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"))
}

export function toolEnds(events: readonly AgentEvent[]): EventOf<"tool-end">[] {
  return events.filter((event) => event.type === "tool-end")
}

/** The stable error code of a failed result. */
export const errorCodeOf = (event: EventOf<"tool-end"> | undefined): string | undefined => event?.error?.code
