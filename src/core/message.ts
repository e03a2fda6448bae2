import { isPromptParts } from "./checks/message-shape.ts"
import { ConfigError } from "./errors.ts"
import type { Json } from "./json.ts"
import { deepFreeze } from "./values/freeze.ts"

/** One turn of a conversation. Plain JSON; ids are unique within a conversation. The system prompt is not a message:
 *  it is frozen per session and travels beside them. */
export type Message = UserMessage | AssistantMessage | ResultMessage

export interface UserMessage {
  id: string
  role: "user"
  parts: (TextPart | ImagePart | SummaryPart)[]
  /** Who speaks: a person (`prompt`, `steer`) or Karst itself (`host`: reminders, announcements). */
  origin: "prompt" | "steer" | "host"
  /** Stays word for word when the conversation is made shorter. */
  pinned?: true
}

export interface AssistantMessage {
  id: string
  role: "assistant"
  parts: (TextPart | ReasoningPart | CodePart | ToolCallPart)[]
}

/** What came of one action: the result of a cell or of a tool call. */
export interface ResultMessage {
  id: string
  role: "result"
  parts: (CodeResultPart | ToolResultPart | ImagePart)[]
}

export interface TextPart {
  type: "text"
  text: string
}

export interface ImagePart {
  type: "image"
  mediaType: string
  /** Base64, or an http(s) URL. */
  data: string
}

export interface ReasoningPart {
  type: "reasoning"
  text: string
  /** What the provider wants back with this reasoning (a signature, an encrypted item): opaque to us. */
  provider?: { [key: string]: Json }
}

export interface CodePart {
  type: "code"
  id: string
  /** The fence tag as the model wrote it. */
  tag: string
  code: string
  /** False when the model never closed the block; such code is never run. */
  closed: boolean
}

export interface ToolCallPart {
  type: "tool-call"
  id: string
  name: string
  /** The arguments as the model wrote them: parsed JSON, or the raw text when it is not JSON. */
  input: Json
  provider?: { [key: string]: Json }
}

export interface CodeResultPart {
  type: "code-result"
  /** The id of the code part this answers. */
  id: string
  ok: boolean
  /** The shaped text the model sees. */
  text: string
  /** The variable that holds the whole of it. */
  kept?: string
  /** Set once the text is only a marker, because the conversation grew long. */
  cleared?: true
}

export interface ToolResultPart {
  type: "tool-result"
  id: string
  name: string
  ok: boolean
  text: string
  kept?: string
  cleared?: true
  /** Set where it must stay in sight, because its tool says so. */
  retained?: true
}

/** What stands for messages that were taken out of the conversation. */
export interface SummaryPart {
  type: "summary"
  /** What the model reads: the sections, what is live in the runtime, and where the messages are. */
  text: string
  /** As the summariser wrote them; absent while nothing has been summarised. */
  sections?: SummarySections
  /** The variables that hold what was taken out, oldest first. */
  history: string[]
  /** Those of them that the sections do not cover yet. */
  unread: string[]
}

/** Each a list, one line an item. */
export interface SummarySections {
  goals: string
  decisions: string
  facts: string
  open: string
}

/** A fresh id: short enough to read, long enough never to collide. */
export function newId(prefix: string): string {
  const uuid = crypto.randomUUID()
  return `${prefix}_${uuid.slice(24)}${uuid.slice(0, 8)}`
}

export type PromptPart = TextPart | ImagePart

/** What a user may say: text, or text and images. */
export type Prompt = string | PromptPart[]

export function userMessage(prompt: Prompt, origin: UserMessage["origin"] = "prompt"): UserMessage {
  const parts: PromptPart[] = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt
  if (!isPromptParts(parts)) {
    throw new ConfigError(
      'A prompt is a text, or a list of { type: "text", text } and { type: "image", mediaType, data }.',
    )
  }
  return deepFreeze({ id: newId("m"), role: "user", origin, parts: parts.map(copyPromptPart) })
}

/** The text of a steer. Throws where it is empty: providers refuse an empty message, and the run could not go on. */
export function checkSteerText(text: string): string {
  if (typeof text === "string" && text.trim() !== "") return text
  throw new ConfigError("steer: the text is empty. Give the text that the model should read.")
}

/** The text of a message, for people: code in fences, images and tool calls by name. */
export function messageText(message: Message): string {
  return message.parts.map(partText).filter(Boolean).join("\n")
}

/** Removes lone surrogates, which no JSON encoder and no provider accepts. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** Where a text may be cut at or just before a place, so that no character is cut in two. */
export function characterBoundary(text: string, place: number): number {
  const end = Math.min(place, text.length)
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end
}

function copyPromptPart(part: PromptPart): PromptPart {
  if (part.type === "text") return { type: "text", text: wellFormed(part.text) }
  return { type: "image", mediaType: part.mediaType, data: part.data }
}

function partText(part: Message["parts"][number]): string {
  switch (part.type) {
    case "text":
    case "summary":
    case "code-result":
    case "tool-result":
      return part.text
    case "code":
      return fenced(part)
    case "tool-call":
      return `[calls ${part.name}]`
    case "image":
      return `[image ${part.mediaType}]`
    case "reasoning":
      return ""
  }
}

/** A code part as the model wrote it; the fence is longer than any run of backticks that starts a line inside. */
export function fenced(part: CodePart): string {
  const runs = part.code.match(/^ {0,3}`{3,}/gm) ?? []
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.trim().length + 1)))
  const body = part.code.endsWith("\n") ? part.code : `${part.code}\n`
  return `${fence}${part.tag}\n${body}${part.closed ? fence : ""}`
}
