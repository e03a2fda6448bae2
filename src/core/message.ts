// The messages of a conversation and their parts, and helpers to make and show them.
import { randomUUID } from "node:crypto"
import { isPromptParts } from "./checks/message-shape.ts"
import { ConfigError } from "./errors.ts"
import type { Json } from "./json.ts"
import { deepFreeze } from "./values/freeze.ts"

/** One message of a conversation, plain JSON. Ids are unique within a conversation. The system prompt is not a
 *  message: it is frozen per session and passed separately. */
export type Message = UserMessage | AssistantMessage | ResultMessage

export interface UserMessage {
  id: string
  role: "user"
  parts: (TextPart | ImagePart | SummaryPart)[]
  /** Who wrote the message: a person (`prompt`, `steer`), or Karst (`host`: reminders, announcements). */
  origin: "prompt" | "steer" | "host"
  /** Kept word for word when the conversation is shortened. */
  pinned?: true
}

export interface AssistantMessage {
  id: string
  role: "assistant"
  parts: (TextPart | ReasoningPart | CodePart | ToolCallPart)[]
}

/** The result of one action: of a cell or of a tool call. */
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
  /** Opaque data that the provider requires back with this reasoning (a signature, an encrypted item). */
  provider?: { [key: string]: Json }
}

export interface CodePart {
  type: "code"
  id: string
  /** The tag of the code fence as the model wrote it. */
  tag: string
  code: string
  /** False if the model did not close the block; such code is never run. */
  closed: boolean
}

export interface ToolCallPart {
  type: "tool-call"
  id: string
  name: string
  /** The arguments as the model wrote them: parsed JSON, or the raw text if it is not JSON. */
  input: Json
  provider?: { [key: string]: Json }
}

export interface CodeResultPart {
  type: "code-result"
  /** The id of the code or tool call that this is the result of. */
  id: string
  ok: boolean
  /** The text that the model sees. */
  text: string
  /** The variable that holds the complete text. */
  kept?: string
  /** Set if the text was replaced by a marker because the conversation grew long. */
  cleared?: true
}

export interface ToolResultPart extends Omit<CodeResultPart, "type"> {
  type: "tool-result"
  name: string
  /** Set if it must not be cleared, because its tool says so. */
  retained?: true
}

/** Replaces messages that were removed from the conversation. */
export interface SummaryPart {
  type: "summary"
  /** The text that the model reads: the sections, the live names of the runtime, and where the removed messages are
   *  stored. */
  text: string
  /** The summary as written by the summariser; absent until something has been summarised. */
  sections?: SummarySections
  /** The variables that hold the removed messages, oldest first. */
  history: string[]
  /** The entries of `history` that the sections do not cover yet. */
  unread: string[]
}

/** Each section is a list with one item per line. */
export interface SummarySections {
  goals: string
  decisions: string
  facts: string
  open: string
}

/** Creates an id that is short enough to read and too long to collide. */
export function newId(prefix: string): string {
  const uuid = randomUUID()
  return `${prefix}_${uuid.slice(24)}${uuid.slice(0, 8)}`
}

export type PromptPart = TextPart | ImagePart

/** What a user can say: text, or text and images. */
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

/** Returns the text of a steer. Throws if it is empty, because providers refuse empty messages. */
export function checkSteerText(text: string): string {
  if (typeof text === "string" && text.trim() !== "") return text
  throw new ConfigError("steer: the text is empty. Give the text that the model should read.")
}

/** The text of a message for people: code in fences, images and tool calls by name. */
export function messageText(message: Message): string {
  return message.parts.map(partText).filter(Boolean).join("\n")
}

/** Replaces lone surrogates, which JSON encoders and providers refuse. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** Returns the last index at or before `index` where the text can be cut without splitting a character. */
export function characterBoundary(text: string, index: number): number {
  const end = Math.min(index, text.length)
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end
}

function copyPromptPart(part: PromptPart): PromptPart {
  if (part.type === "text") return { type: "text", text: wellFormed(part.text) }
  return { type: "image", mediaType: part.mediaType, data: part.data }
}

/** The text of one part. */
export function partText(part: Message["parts"][number]): string {
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

/** A code part as fenced text. The fence is longer than any run of backticks that starts a line of the code. */
export function fenced(part: CodePart): string {
  const runs = part.code.match(/^ {0,3}`{3,}/gm) ?? []
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.trim().length + 1)))
  const body = part.code.endsWith("\n") ? part.code : `${part.code}\n`
  return `${fence}${part.tag}\n${body}${part.closed ? fence : ""}`
}
