// Converts our messages to AI SDK prompts.
import type { Json } from "../core/json.ts"
import { type AssistantMessage, fenced, type ImagePart, type Message, wellFormed } from "../core/message.ts"
import { isRecord } from "../core/object.ts"
import type {
  AssistantPart,
  PromptFile,
  PromptMessage,
  PromptTool,
  ProviderOptions,
  ToolResult,
  UserPart,
} from "./ai-sdk-types.ts"
import type { ModelRequest, ToolSpec } from "./model.ts"

/** The key in a part's `provider` data that names the model it came from. */
const originKey = "karst"

export interface PromptOptions {
  id: string
  version: "v3" | "v4"
}

/** Creates a converter that converts each message only once, however many requests contain it. For providers that
 *  cache only on request, `cachePoint` are the options that request it. */
export function createPromptConverter(
  options: PromptOptions,
): (request: ModelRequest, cachePoint?: ProviderOptions) => PromptMessage[] {
  const known = new WeakMap<Message, PromptMessage[]>()
  function convertOnce(message: Message): PromptMessage[] {
    const before = known.get(message)
    if (before) return before
    const converted = convertMessage(message, options)
    known.set(message, converted)
    return converted
  }
  return (request, cachePoint) => {
    const { prompt, stable } = assemblePrompt(request, convertOnce)
    return cachePoint ? withCachePoints(prompt, stable, cachePoint) : prompt
  }
}

// Cache points: the system prompt, which all conversations share; the messages before the newest prompt, which
// all cycles of the run share; and the end, for the next request of this run.
function withCachePoints(prompt: PromptMessage[], stable: number, cachePoint: ProviderOptions): PromptMessage[] {
  const points = new Set([prompt[0]?.role === "system" ? 0 : -1, stable, prompt.length - 1])
  return prompt.map((message, index) => (points.has(index) ? { ...message, providerOptions: cachePoint } : message))
}

export function toPromptTools(tools: readonly ToolSpec[]): PromptTool[] {
  return tools.map(({ name, description, input }) => ({ type: "function", name, description, inputSchema: input }))
}

/** Marks data that a provider requires back with the id of its model, because a signature is useless to another
 *  model. */
export function markOrigin(metadata: ProviderOptions, id: string): ProviderOptions {
  return { ...metadata, [originKey]: { model: id } }
}

// Providers require alternating roles, and tool results directly after their calls. So everything between two
// answers of the model becomes at most one tool message followed by one user message.
function assemblePrompt(
  request: ModelRequest,
  convertOnce: (message: Message) => PromptMessage[],
): { prompt: PromptMessage[]; stable: number } {
  const newestPrompt = request.messages.findLast((message) => message.role === "user" && message.origin === "prompt")
  let stable = -1
  const prompt: PromptMessage[] = []
  if (request.system) prompt.push({ role: "system", content: wellFormed(request.system) })
  let group: PromptMessage[][] = []
  let answering = false
  function flush(): void {
    const [first] = group
    if (first) prompt.push(...(group.length === 1 ? first : mergeMessages(group.flat())))
    group = []
  }
  for (const message of request.messages) {
    const converted = convertOnce(message)
    if (converted.length === 0) continue
    const answer = message.role === "assistant"
    if (answer !== answering) flush()
    answering = answer
    if (message === newestPrompt) stable = prompt.length - 1
    group.push(converted)
  }
  flush()
  return { prompt, stable }
}

function mergeMessages(group: PromptMessage[]): PromptMessage[] {
  const assistant = group.flatMap((message) => (message.role === "assistant" ? message.content : []))
  const tool = group.flatMap((message) => (message.role === "tool" ? message.content : []))
  const user = group.flatMap((message) => (message.role === "user" ? message.content : []))
  return messagesOf(assistant, tool, joinTexts(user))
}

function messagesOf(assistant: AssistantPart[], tool: ToolResult[], user: UserPart[]): PromptMessage[] {
  const messages: PromptMessage[] = []
  if (assistant.length > 0) messages.push({ role: "assistant", content: assistant })
  if (tool.length > 0) messages.push({ role: "tool", content: tool })
  if (user.length > 0) messages.push({ role: "user", content: user })
  return messages
}

// Some compatible servers accept only a single string as a user message.
function joinTexts(parts: UserPart[]): UserPart[] {
  const joined: UserPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === "text" && last?.type === "text") {
      joined[joined.length - 1] = { type: "text", text: `${last.text}\n\n${part.text}` }
    } else {
      joined.push(part)
    }
  }
  return joined
}

function convertMessage(message: Message, options: PromptOptions): PromptMessage[] {
  if (message.role === "assistant") return messagesOf(assistantParts(message, options), [], [])
  const tool: ToolResult[] = []
  const user: UserPart[] = []
  for (const part of message.parts) {
    if (part.type === "image") {
      user.push(toPromptFile(part, options.version))
    } else if (part.type === "tool-result") {
      const output = { type: part.ok ? "text" : "error-text", value: wellFormed(part.text) } as const
      tool.push({ type: "tool-result", toolCallId: part.id, toolName: part.name, output })
    } else if (part.text) {
      user.push({ type: "text", text: wellFormed(part.text) })
    }
  }
  return messagesOf([], tool, joinTexts(user))
}

function assistantParts(message: AssistantMessage, { id }: PromptOptions): AssistantPart[] {
  const parts: AssistantPart[] = []
  // Providers require reasoning back only if a call follows from it. In an answer that was cut after its first cell, it
  // would no longer match the rest, and newer providers refuse that.
  const hasCalls = message.parts.some((part) => part.type === "tool-call")
  const hasText = message.parts.some((part) => part.type === "text" || part.type === "code")
  for (const part of message.parts) {
    switch (part.type) {
      case "text":
        pushText(parts, part.text)
        break
      case "code":
        pushText(parts, fenced(part))
        break
      case "reasoning": {
        const kept = part.provider && providerOptions(part.provider, id, hasText)
        if (!hasCalls || (part.provider && !kept)) break
        parts.push({ type: "reasoning", text: wellFormed(part.text), ...(kept && { providerOptions: kept }) })
        break
      }
      case "tool-call": {
        const kept = part.provider && providerOptions(part.provider, id, hasText)
        const call = {
          type: "tool-call",
          toolCallId: part.id,
          toolName: part.name,
          input: callInput(part.input),
        } as const
        parts.push(kept ? { ...call, providerOptions: kept } : call)
        break
      }
    }
  }
  return parts
}

// Joins text and code of one answer to one text again, as the model wrote it.
function pushText(parts: AssistantPart[], text: string): void {
  if (!text) return
  const last = parts.at(-1)
  if (last?.type !== "text") {
    parts.push({ type: "text", text: wellFormed(text) })
    return
  }
  const gap = last.text.endsWith("\n") ? "" : "\n"
  parts[parts.length - 1] = { type: "text", text: `${last.text}${gap}${wellFormed(text)}` }
}

function providerOptions(provider: { [key: string]: Json }, id: string, hasText: boolean): ProviderOptions | undefined {
  const options: ProviderOptions = {}
  for (const [key, value] of Object.entries(provider)) {
    if (!isRecord(value)) continue
    if (key === originKey) {
      if (value.model !== id) return undefined
      continue
    }
    // OpenAI requires stored items back as a complete chain, but text is sent back without its item.
    if (hasText && "itemId" in value) continue
    options[key] = value
  }
  return Object.keys(options).length > 0 ? options : undefined
}

// Providers accept only objects. Invalid input is wrapped, so that the model still sees what it wrote.
function callInput(input: Json): Json {
  const clean = cleanJson(input)
  return isRecord(clean) ? clean : { raw: clean }
}

function cleanJson(value: Json): Json {
  if (typeof value === "string") return wellFormed(value)
  if (Array.isArray(value)) return value.map(cleanJson)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [wellFormed(key), cleanJson(entry)]))
}

function toPromptFile(part: ImagePart, version: "v3" | "v4"): PromptFile {
  const { mediaType } = part
  const url = /^https?:/i.test(part.data) ? new URL(part.data) : undefined
  if (version === "v3") return { type: "file", mediaType, data: url ?? part.data }
  return { type: "file", mediaType, data: url ? { type: "url", url } : { type: "data", data: part.data } }
}
