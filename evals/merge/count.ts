// Counts the model calls and prompt tokens of a recorded conversation, as it was and with its tool calls merged.
import { countTokens, messageFrame } from "../harness/tokens.ts"
import { groupCalls } from "../replay/group-calls.ts"
import type { ReplayCall } from "../replay/task.ts"

export interface Recorded {
  task_id: number | string
  trial: number
  traj: RecordedMessage[]
}

export interface RecordedMessage {
  role: "system" | "user" | "assistant" | "tool"
  content: string | null
  name?: string
  tool_call_id?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

export const mergings = ["as recorded", "independent calls", "all consecutive calls"] as const
export type Merging = (typeof mergings)[number]

/** A conversation as a list of what precedes each answer: texts, and runs of tool calls without a text between them. */
export interface CountedConversation {
  id: string
  parts: Part[]
  calls: number
  /** The calls that have a result. */
  answered: number
}

type Part =
  | { type: "text"; tokens: number; role: RecordedMessage["role"]; text: string }
  | { type: "calls"; calls: CountedCall[] }

interface CountedCall extends ReplayCall {
  /** The tokens of the call and of its result. */
  tokens: number
  /** The place of the answer that made it. Calls of one answer are one model call. */
  answer: number
}

export function conversationOf({ task_id, trial, traj }: Recorded): CountedConversation {
  const parts: Part[] = []
  let answered = 0
  for (const [at, message] of traj.entries()) {
    if (message.role === "tool") continue
    const made = message.tool_calls ?? []
    if (made.length === 0) {
      const text = message.content ?? ""
      parts.push({ type: "text", tokens: size(text), role: message.role, text })
      continue
    }
    const calls = made.map(({ function: call }, index): CountedCall => {
      const result = resultOf(traj, at, index)
      if (result !== undefined) answered++
      return { ...toCall(call, result ?? "", index === 0 ? (message.content ?? "") : ""), answer: at }
    })
    const last = parts.at(-1)
    if (last?.type === "calls") last.calls.push(...calls)
    else parts.push({ type: "calls", calls })
  }
  const calls = parts.flatMap((part) => (part.type === "calls" ? part.calls : [])).length
  return { id: `${task_id}.${trial}`, parts, calls, answered }
}

/** The results follow their answer, in the order of its calls. */
function resultOf(traj: readonly RecordedMessage[], at: number, index: number): string | undefined {
  const following = traj.slice(at + 1, at + 2 + index)
  const isThere = following.length === index + 1 && following.every(({ role }) => role === "tool")
  return isThere ? (following[index]?.content ?? "") : undefined
}

/** Each answer of the model has everything before it as its prompt. */
export function countCalls({ parts }: CountedConversation, merging: Merging): { modelCalls: number; prompt: number } {
  let context = 0
  let userText = ""
  const counted = { modelCalls: 0, prompt: 0 }
  const answer = (tokens: number) => {
    counted.modelCalls++
    counted.prompt += context
    context += tokens
  }
  for (const part of parts) {
    if (part.type === "calls") {
      for (const group of groups(part.calls, merging, userText))
        answer(group.reduce((sum, { tokens }) => sum + tokens, 0))
    } else if (part.role === "assistant") answer(part.tokens)
    else {
      context += part.tokens
      if (part.role === "user") userText += `\n${part.text}`
    }
  }
  return counted
}

function groups(calls: readonly CountedCall[], merging: Merging, userText: string): CountedCall[][] {
  if (merging === "as recorded") return [...Map.groupBy(calls, ({ answer }) => answer).values()]
  if (merging === "all consecutive calls") return [[...calls]]
  return groupCalls(calls, userText)
}

const reads = /^(?:get|search|list|find|calculate|think)(?:_|$)/

function toCall(
  { name, arguments: input }: { name: string; arguments: string },
  result: string,
  text: string,
): Omit<CountedCall, "answer"> {
  const tokens = size(`${text}${JSON.stringify({ name })}${input}`) + size(result)
  return { name, input: parseInput(input), result, fails: false, writes: !reads.test(name), tokens }
}

/** A model can write arguments that are not JSON. Such a text is one argument. */
function parseInput(text: string): CountedCall["input"] {
  try {
    return JSON.parse(text)
  } catch {
    return { text }
  }
}

function size(text: string): number {
  return countTokens(text) + messageFrame
}
