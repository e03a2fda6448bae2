import type { Message } from "../core/message.ts"
import { estimateTokens } from "../core/usage.ts"

const known = new WeakMap<Message, number>()
const totals = new WeakMap<readonly Message[], { counted: number; tokens: number }>()

/** A guess at the tokens of messages. Each is measured once, so a long conversation costs no more than a short. */
export function estimateMessages(messages: readonly Message[]): number {
  let tokens = 0
  for (const message of messages) tokens += estimateMessage(message)
  return tokens
}

/** The same for a conversation that grows: only what is new since the last time is looked at. */
export function estimateConversation(messages: readonly Message[]): number {
  const total = totals.get(messages) ?? { counted: 0, tokens: 0 }
  for (; total.counted < messages.length; total.counted++) {
    const message = messages[total.counted]
    if (message) total.tokens += estimateMessage(message)
  }
  totals.set(messages, total)
  return total.tokens
}

/** To be called when messages of a conversation were replaced. */
export function estimateAnew(messages: readonly Message[]): void {
  totals.delete(messages)
}

export function estimateMessage(message: Message): number {
  const before = known.get(message)
  if (before !== undefined) return before
  // A few tokens frame every message.
  let tokens = 4
  for (const part of message.parts) tokens += estimatePart(part)
  known.set(message, tokens)
  return tokens
}

function estimatePart(part: Message["parts"][number]): number {
  switch (part.type) {
    case "text":
    case "summary":
    case "reasoning":
    case "code-result":
    case "tool-result":
      return estimateTokens(part.text)
    case "code":
      return estimateTokens(part.code) + 4
    case "tool-call":
      return estimateTokens(part.name + JSON.stringify(part.input))
    case "image":
      // About what providers charge for a middling one.
      return 1500
  }
}
