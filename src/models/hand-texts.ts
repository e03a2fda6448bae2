// The text files of a model that a person plays: how a request is shown, and how an answer is read.

import { fenced, type Message } from "../core/message.ts"
import { isRecord } from "../core/object.ts"
import { errorParts } from "../core/text/error-text.ts"
import type { ModelPart, ModelRequest } from "./model.ts"

interface RequestSection {
  title: string
  text: string
}

/** Returns the system prompt, the tools and the messages of a request, as the model reads them. */
export function requestSections({ system, tools = [], messages }: ModelRequest): RequestSection[] {
  const toolText = tools.map(({ name, description, input }) => `${name}: ${description}\n${JSON.stringify(input)}`)
  return [
    { title: "system", text: system },
    ...(toolText.length > 0 ? [{ title: "tools", text: toolText.join("\n\n") }] : []),
    ...messages.map((message) => ({ title: message.role, text: message.parts.map(partText).join("\n") })),
  ]
}

export function sectionText({ title, text }: RequestSection): string {
  return `===== ${title} =====\n${text}`
}

function partText(part: Message["parts"][number]): string {
  switch (part.type) {
    case "code":
      return fenced(part)
    case "tool-call":
      return `\`\`\`tool-call\n${JSON.stringify({ name: part.name, input: part.input })}\n\`\`\``
    case "tool-result":
      return `[${part.name}${part.ok ? "" : ", failed"}] ${part.text}`
    case "image":
      return `[image, ${part.mediaType}]`
    default:
      return part.text
  }
}

/** Returns the parts of an answer, or a text that says which tool call is not valid and why. */
export function parseHandAnswer(answer: string, number: string): ModelPart[] | string {
  const parts: ModelPart[] = []
  let end = 0
  for (const match of answer.matchAll(/^```tool-call[ \t]*\n([\s\S]*?)^```[ \t]*$/gm)) {
    const text = answer.slice(end, match.index).trim()
    if (text) parts.push({ type: "text", text })
    end = match.index + match[0].length
    const position = parts.filter((part) => part.type === "tool-call").length + 1
    const call = parseCall(match[1] ?? "")
    if (typeof call === "string") {
      return `Tool call ${position} is not valid: ${call} Write it as { "name": "…", "input": { … } }.`
    }
    parts.push({ type: "tool-call", id: `hand_${number}_${position}`, ...call })
  }
  const rest = end === 0 ? answer : answer.slice(end).trim()
  if (rest) parts.push({ type: "text", text: rest })
  return parts
}

function parseCall(text: string): Pick<Extract<ModelPart, { type: "tool-call" }>, "name" | "input"> | string {
  try {
    const call: unknown = JSON.parse(text)
    if (!isRecord(call) || typeof call.name !== "string") return "it has no name."
    return { name: call.name, input: JSON.parse(JSON.stringify(call.input ?? {})) }
  } catch (error) {
    return `${errorParts(error).message}.`
  }
}
