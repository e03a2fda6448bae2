// Writes the summary with which one agent takes over the work of another.
import { type AssistantMessage, type Message, messageText } from "../../core/message.ts"
import { indentFurtherLines, oneLine } from "../../core/text/tagged-text.ts"

export interface Handoff {
  /** The agent that cannot continue, and why. */
  from: string
  reason: string
  /** The conversation without the current prompt, which the caller sends after this text. */
  messages: readonly Message[]
  /** Files known to be created or changed. */
  files: Iterable<string>
  /** At least 2,000. Default 8,000. */
  maxChars?: number | undefined
}

/** Lists the prompts, the calls, the changed files and the last answer. If a section is too long, its oldest
 *  entries are left out. A long entry loses its end. */
export function handoffText({ from, reason, messages, files, maxChars = 8000 }: Handoff): string {
  // Leaves 900 characters for the fixed text.
  const room = maxChars - 900
  const parts = [
    `You take over the work of another agent (${from}), which cannot go on: ${truncate(oneLine(reason), 300)} ` +
      "This is from its record. What it did is done: look at how things stand before you do any of it again.",
    section("Asked so far, the newest last", messages.flatMap(userPromptsIn), room * 0.35),
    section("Done so far, the newest last", describeCalls(messages), room * 0.3),
    section("Files made or changed", [...files], room * 0.1),
    section("Said last", messages.flatMap(assistantTextsIn).slice(-1), room * 0.25),
    "What you are asked for now follows.",
  ]
  return parts.filter((part) => part !== "").join("\n\n")
}

function section(title: string, entries: readonly string[], maxChars: number): string {
  if (entries.length === 0) return ""
  const kept: string[] = []
  let left = Math.floor(maxChars)
  for (const entry of entries.toReversed()) {
    const line = `- ${truncate(indentFurtherLines(entry), kept.length === 0 ? left : Math.min(left, 1000))}`
    if (line.length > left && kept.length > 0) break
    kept.unshift(line)
    left -= line.length
  }
  const omitted = entries.length - kept.length
  return [`${title}:`, ...(omitted > 0 ? [`- (${omitted} before these are left out)`] : []), ...kept].join("\n")
}

// Skips messages of the host, such as an earlier handoff.
function userPromptsIn(message: Message): string[] {
  const text = message.role === "user" && message.origin !== "host" ? messageText(message).trim() : ""
  return text === "" ? [] : [text]
}

function assistantTextsIn(message: Message): string[] {
  const text = message.role === "assistant" ? assistantText(message) : ""
  return text === "" ? [] : [text]
}

function assistantText({ parts }: AssistantMessage): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return texts.join("\n").trim()
}

function describeCalls(messages: readonly Message[]): string[] {
  const failed = new Set<string>()
  for (const { role, parts } of messages) {
    if (role !== "result") continue
    for (const part of parts) if ("ok" in part && !part.ok) failed.add(part.id)
  }
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return []
    return message.parts.flatMap((part) => {
      if (part.type !== "tool-call" && part.type !== "code") return []
      const what = part.type === "code" ? `cell ${part.code}` : `${part.name} ${JSON.stringify(part.input)}`
      return [`${truncate(what, 160)}${failed.has(part.id) ? " (failed)" : ""}`]
    })
  })
}

function truncate(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, Math.max(0, maxLength - 1)).trimEnd()}…` : text
}
