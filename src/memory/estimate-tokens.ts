// Estimates the tokens of messages.
import type { Message } from "../core/message.ts"
import { estimateTokens } from "../core/usage.ts"

const messageTokens = new WeakMap<Message, number>()
const conversationTotals = new WeakMap<readonly Message[], { counted: number; tokens: number }>()

export function estimateMessages(messages: readonly Message[]): number {
  let tokens = 0
  for (const message of messages) tokens += estimateMessage(message)
  return tokens
}

/** Estimates a growing conversation: only messages since the last call are counted. */
export function estimateConversation(messages: readonly Message[]): number {
  let total = conversationTotals.get(messages)
  if (!total) {
    total = { counted: 0, tokens: 0 }
    conversationTotals.set(messages, total)
  }
  for (; total.counted < messages.length; total.counted++) {
    const message = messages[total.counted]
    if (message) total.tokens += countMessage(message)
  }
  return total.tokens
}

/** Must be called when messages of a conversation were replaced. */
export function resetEstimate(messages: readonly Message[]): void {
  conversationTotals.delete(messages)
}

/** Cached for each message, because a compaction needs it repeatedly. `estimateConversation` needs no cache. */
export function estimateMessage(message: Message): number {
  const before = messageTokens.get(message)
  if (before !== undefined) return before
  const tokens = countMessage(message)
  messageTokens.set(message, tokens)
  return tokens
}

function countMessage({ parts }: Message): number {
  // Each message has a few tokens of overhead.
  let tokens = 4
  for (const part of parts) tokens += estimatePart(part)
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
      // About the cost of a medium-sized image.
      return 1500
  }
}
