import type { Message } from "../core/message.ts"
import { estimateTokens } from "../core/usage.ts"

const known = new WeakMap<Message, number>()

/** A guess at the tokens of a request. Each message is measured once, so a long conversation costs no more than a short. */
export function estimateMessages(system: string, messages: readonly Message[]): number {
  let tokens = estimateTokens(system)
  for (const message of messages) {
    let count = known.get(message)
    if (count === undefined) {
      count = estimateMessage(message)
      known.set(message, count)
    }
    tokens += count
  }
  return tokens
}

function estimateMessage(message: Message): number {
  // A few tokens frame every message; an image costs about what providers charge for a middling one.
  let tokens = 4
  for (const part of message.parts) {
    switch (part.type) {
      case "text":
      case "reasoning":
      case "code-result":
      case "tool-result":
        tokens += estimateTokens(part.text)
        break
      case "code":
        tokens += estimateTokens(part.code) + 4
        break
      case "tool-call":
        tokens += estimateTokens(part.name + JSON.stringify(part.input))
        break
      case "image":
        tokens += 1500
        break
    }
  }
  return tokens
}
