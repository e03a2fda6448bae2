import type { Message } from "../core/message.ts"

/** The indexes at which a conversation may be cut: nowhere is a cell or call on one side and its result on the other.
 *  Neither 0 nor the end is among them. */
export function cutPoints(messages: readonly Message[]): number[] {
  const answered = new Set(messages.flatMap(resultIds))
  const open = new Set<string>()
  const points: number[] = []
  for (const [index, message] of messages.entries()) {
    if (index > 0 && open.size === 0) points.push(index)
    // What never got a result, in a conversation from elsewhere, holds nothing together.
    for (const id of callIds(message)) if (answered.has(id)) open.add(id)
    for (const id of resultIds(message)) open.delete(id)
  }
  return points
}

/** Whether every cell and call has one result after it, and no result is alone. */
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
