// Pairs calls with their results, so that they stay together when messages are removed.
import type { Message } from "../core/message.ts"

/** Returns the indexes, except 0 and the end, at which a cut does not separate a cell or call from its result. */
export function cutPoints(messages: readonly Message[]): number[] {
  const answered = new Set(messages.flatMap(resultIds))
  const open = new Set<string>()
  const points: number[] = []
  for (const [index, message] of messages.entries()) {
    if (index > 0 && open.size === 0) points.push(index)
    // In a conversation from elsewhere, a call may never have got a result.
    for (const id of callIds(message)) if (answered.has(id)) open.add(id)
    for (const id of resultIds(message)) open.delete(id)
  }
  return points
}

/** Returns true if a turn starts at the index: with a prompt or steer of the user, or host messages before it. */
export function startsTurn(messages: readonly Message[], index: number): boolean {
  if (messages[index - 1]?.role === "user") return false
  for (const message of messages.slice(index)) {
    if (message.role !== "user") return false
    if (message.origin !== "host") return true
  }
  return false
}

/** Returns true if the model answers at the index, after the results of its answer before. */
export function startsStep(messages: readonly Message[], index: number): boolean {
  return messages[index]?.role === "assistant" && messages[index - 1]?.role === "result"
}

/** Returns true if every cell and call has exactly one later result, and every result belongs to one. */
export function isPaired(messages: readonly Message[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    for (const id of callIds(message)) open.add(id)
    for (const id of resultIds(message)) if (!open.delete(id)) return false
  }
  return open.size === 0
}

function callIds(message: Message): string[] {
  if (message.role !== "assistant") return []
  return message.parts.flatMap((part) => (part.type === "code" || part.type === "tool-call" ? [part.id] : []))
}

function resultIds(message: Message): string[] {
  if (message.role !== "result") return []
  return message.parts.flatMap((part) => (part.type === "image" ? [] : [part.id]))
}
