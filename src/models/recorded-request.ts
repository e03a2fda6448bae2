// Stores and compares the requests of a recording.
import { createHash } from "node:crypto"
import type { Message } from "../core/message.ts"
import { textDiff } from "../core/text/text-diff.ts"
import type { ModelRequest } from "./model.ts"

/** A model request as texts that are equal for equal requests. Random ids are left out, and images are digests. The
 *  declarations of bindings are part of the system prompt. */
export interface RequestTexts {
  system: string
  tools: readonly string[]
  messages: readonly string[]
}

/** A request as stored: only its difference to an earlier call, because each call repeats the conversation. */
export interface RecordedRequest {
  /** The call that this is the difference to. */
  base?: number
  /** How many messages of that call come first. Default 0. */
  kept?: number
  /** Default: same as in `base`. */
  system?: string
  tools?: readonly string[]
  /** The messages that follow those. */
  messages: readonly string[]
}

export function requestTexts({ system, tools = [], messages }: ModelRequest): RequestTexts {
  return {
    system,
    tools: tools.map(({ name, description, input }) => `${name} ${JSON.stringify(input)}\n${description}`),
    messages: messages.map(comparableMessageText),
  }
}

function comparableMessageText({ role, parts }: Message): string {
  const texts = parts.map((part) => {
    switch (part.type) {
      case "image":
        return `[image ${part.mediaType} ${createHash("sha256").update(part.data).digest("hex").slice(0, 16)}]`
      case "code":
        return `\`\`\`${part.tag}\n${part.code}\n\`\`\``
      case "tool-call":
        return `[call ${part.name} ${JSON.stringify(part.input)}]`
      case "tool-result":
        return `[result of ${part.name}]\n${part.text}`
      default:
        return part.text
    }
  })
  return [`${role}:`, ...texts].join("\n")
}

/** Creates a function that returns each request of a recording as the difference to the previous one. */
export function createRequestRecorder(): (call: number, request: ModelRequest) => RecordedRequest {
  let last: { call: number; texts: RequestTexts } | undefined
  return (call, request) => {
    const texts = requestTexts(request)
    const base = last
    last = { call, texts }
    if (!base) return { ...texts }
    const { messages } = texts
    const changed = messages.findIndex((text, index) => text !== base.texts.messages[index])
    const kept = changed === -1 ? messages.length : changed
    return {
      base: base.call,
      kept,
      ...(texts.system !== base.texts.system && { system: texts.system }),
      ...(JSON.stringify(texts.tools) !== JSON.stringify(base.texts.tools) && { tools: texts.tools }),
      messages: messages.slice(kept),
    }
  }
}

/** Restores the texts of each request by its call number. Requests whose base is missing are left out. */
export function restoreRequestTexts(
  calls: readonly { call: number; request?: RecordedRequest | undefined }[],
): ReadonlyMap<number, RequestTexts> {
  const restored = new Map<number, RequestTexts>()
  for (const { call, request } of calls) {
    if (!request) continue
    const { base, kept = 0, messages } = request
    const from = base === undefined ? { system: "", tools: [], messages: [] } : restored.get(base)
    if (!from) continue
    const { system = from.system, tools = from.tools } = request
    restored.set(call, { system, tools, messages: [...from.messages.slice(0, kept), ...messages] })
  }
  return restored
}

/** Describes the first difference between two requests; undefined if they are equal. */
export function requestDifference(
  recorded: RequestTexts,
  current: RequestTexts,
  mask: (text: string) => string,
): string | undefined {
  const compared: [name: string, recorded: string | undefined, current: string | undefined][] = [
    ["the system prompt, which declares the bindings,", recorded.system, current.system],
    ...pairs(recorded.tools, current.tools).map(([a, b], index): [string, typeof a, typeof b] => [
      `tool ${index + 1}`,
      a,
      b,
    ]),
    ...pairs(recorded.messages, current.messages).map(([a, b], index): [string, typeof a, typeof b] => [
      `message ${index + 1}`,
      a,
      b,
    ]),
  ]
  for (const [name, recordedText, currentText] of compared) {
    const [left, right] = [
      recordedText === undefined ? "" : mask(recordedText),
      currentText === undefined ? "" : mask(currentText),
    ]
    if (left !== right) return `${name} differs.\n\n${textDiff(left, right)}\n`
  }
  return undefined
}

function pairs<T>(left: readonly T[], right: readonly T[]): [T | undefined, T | undefined][] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [left[index], right[index]])
}
