import { fenced, type Message } from "../core/message.ts"
import { escapeTitles } from "../core/text/tagged-text.ts"
import type { MemoryServices } from "../memory.ts"
import { keepImages } from "./kept-values.ts"

/** Messages as text, one entry each: what is kept in a variable, and what the summariser reads. */
export async function transcript(messages: readonly Message[], services: MemoryServices): Promise<string[]> {
  const entries: string[] = []
  for (const message of messages) {
    const images = message.parts.filter((part) => part.type === "image")
    const words = images.length > 0 ? await keepImages(images, services) : []
    const lines = [...message.parts.map(partText), ...words].filter(Boolean)
    if (lines.length > 0) entries.push(`[${speaker(message)}]\n${lines.join("\n")}`)
  }
  return entries
}

function speaker(message: Message): string {
  if (message.role !== "user") return message.role
  return message.origin === "host" ? "session" : "user"
}

// No result can begin an entry of its own, as if the user had said it.
const speakerTitle = /\[(?:user|assistant|result|session)\]/

function partText(part: Message["parts"][number]): string {
  switch (part.type) {
    case "text":
    case "summary":
      return part.text
    case "code-result":
      return escapeTitles(part.text, speakerTitle)
    case "tool-result":
      return `${part.name}${part.ok ? "" : " failed"}: ${escapeTitles(part.text, speakerTitle)}`
    case "code":
      return fenced(part)
    case "tool-call":
      return `calls ${part.name} ${JSON.stringify(part.input)}`
    // Images follow by the names they are kept under; reasoning led to what is there.
    case "image":
    case "reasoning":
      return ""
  }
}
