// Turns messages into text, for a stored variable and for the summarising model.
import { fenced, type Message } from "../core/message.ts"
import { escapeTitles } from "../core/text/tagged-text.ts"
import type { MemoryServices } from "../memory.ts"
import { keepImages } from "./kept-values.ts"

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

// A result must not contain such a title, or it could pass for a message of the user.
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
    // Images follow by their stored names. Reasoning is left out.
    case "image":
    case "reasoning":
      return ""
  }
}
