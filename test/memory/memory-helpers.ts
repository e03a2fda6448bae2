// Builds conversations for compaction, and collects the events it emits.
import type { EventBody } from "../../src/core/event.ts"
import { type AssistantMessage, type Message, newId, type ResultMessage, userMessage } from "../../src/core/message.ts"
import { foldMessages } from "../../src/core/trajectory.ts"
import { addUsage, noUsage, type Usage } from "../../src/core/usage.ts"
import { type MemoryOptions, type MemoryServices, resolveMemory } from "../../src/memory.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"

export const goodSummary = (facts = "- none") =>
  `<analysis>secret thoughts</analysis>\n<summary>\n## Goals\n- go on\n## Decisions\n- none\n## Facts\n${facts}\n## Open work\n- more\n</summary>`

export function say(text: string): AssistantMessage {
  return { id: newId("m"), role: "assistant", parts: [{ type: "text", text }] }
}

export function cell(code: string, text: string, ok = true): [AssistantMessage, ResultMessage] {
  const id = newId("c")
  return [
    { id: newId("m"), role: "assistant", parts: [{ type: "code", id, tag: "ts", code, closed: true }] },
    { id: `r_${id}`, role: "result", parts: [{ type: "code-result", id, ok, text }] },
  ]
}

export function call(name: string, input: { [key: string]: string }, text: string): [AssistantMessage, ResultMessage] {
  const id = newId("t")
  return [
    { id: newId("m"), role: "assistant", parts: [{ type: "tool-call", id, name, input }] },
    { id: `r_${id}`, role: "result", parts: [{ type: "tool-result", id, name, ok: true, text }] },
  ]
}

export const ask = (text: string) => userMessage(text)

/** A conversation for compaction, with the events it emitted. */
export function memoryConversation(
  start: readonly Message[],
  options: Omit<MemoryOptions, "model"> & { answers?: readonly ScriptedStep[]; window?: number } & Partial<
      Pick<MemoryServices, "hooks" | "request" | "systemTokens" | "signal">
    > = {},
) {
  const { answers = [], window = 128_000, hooks = [], compactAtTokens, keepResults } = options
  const messages = [...start]
  const events: EventBody[] = []
  const model = scriptedModel(answers, { contextWindow: window })
  const runtime = jsRuntime()
  let spent: Usage = noUsage
  const services: MemoryServices = {
    memory: resolveMemory({ compactAtTokens, keepResults }, { model, contextWindow: window }),
    messages,
    request: options.request ?? { system: "" },
    systemTokens: options.systemTokens ?? 0,
    valueStore: runtime,
    resultStorage: "variable",
    reservedNames: new Set(),
    hooks,
    spend: (usage) => {
      spent = addUsage(spent, usage)
    },
    signal: options.signal ?? new AbortController().signal,
  }
  return {
    start,
    messages,
    events,
    model,
    runtime,
    services,
    emit(event: EventBody) {
      events.push(event)
      foldMessages(messages, { ...event, run: "run", seq: 0, at: 0 })
    },
    get spent() {
      return spent
    },
    tiers: () => events.flatMap((event) => (event.type === "memory-compacted" ? [event.tier] : [])),
    warnings: () => events.flatMap((event) => (event.type === "warning-raised" ? [event.code] : [])),
    /** The messages folded from the events alone. */
    replayed() {
      const again = [...start]
      for (const event of events) foldMessages(again, { ...event, run: "run", seq: 0, at: 0 })
      return again
    },
  }
}

export function textOf(messages: readonly Message[]): string {
  return JSON.stringify(messages)
}
