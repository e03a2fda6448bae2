// Streams one answer of the model, emits it piece by piece, and continues an answer that was cut.
import { ModelError } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import type { AssistantMessage, Message, ReasoningPart, ToolCallPart } from "../core/message.ts"
import { newId, userMessage, wellFormed } from "../core/message.ts"
import { addUsage, estimateTokens, noUsage, type Usage, withCost } from "../core/usage.ts"
import { estimateMessages } from "../memory/estimate-tokens.ts"
import type { FinishReason, Model, ModelPart, ModelRequest } from "../models/model.ts"
import { modelWarningHandlers } from "../models/model-warnings.ts"
import { ModelStreamReader } from "../models/stream-reader.ts"
import { contentFilterError, serviceError, streamEndedError, truncatedError } from "./answer-errors.ts"
import { startsInThought } from "./parse/markup.ts"
import type { CodeSyntax } from "./parse/tags.ts"
import { type AnswerParser, createAnswerParser, type ParsedPiece } from "./parse.ts"

export interface AnswerServices {
  model: Model
  request: Omit<ModelRequest, "messages" | "signal">
  signal: AbortSignal
  /** How the model marks code; absent for an agent that only calls tools. */
  codeSyntax: CodeSyntax | undefined
  language: "typescript" | "python"
  /** The ids of all tool calls of this conversation, because some providers repeat ids. */
  callIds: Set<string>
  /** The estimated tokens of the system prompt and the tools. */
  systemTokens: number
  /** May change an answer before it is stored. */
  review?: ((parts: AssistantMessage["parts"], usage: Usage) => Promise<AssistantMessage["parts"]>) | undefined
}

/** One answer. `message` is absent if the model wrote nothing. */
export interface StreamedAnswer {
  message?: AssistantMessage | undefined
  usage: Usage
  /** The tokens of the sent messages, if the provider counted them. */
  counted?: number | undefined
  error?: unknown
  /** The answer has code that was not run and is not final: the message that tells the model what to do. */
  sendBack?: string | undefined
  /** The answer has more code than the block that is run. */
  hasMoreCode?: boolean | undefined
}

// How many tokens are read after the first code block closes: the last chunk may have the usage, and a `</think>` may
// show that the block belongs to a thought.
const maxTrailingTokens = 200
const maxContinuations = 3

/** Streams one answer and parses it. An answer cut by the output limit or a dropped connection is continued and joined.
 *  Never throws: an error is returned together with the text before it. */
export async function streamAnswer(
  services: AnswerServices,
  messages: readonly Message[],
  emit: Emit,
): Promise<StreamedAnswer> {
  const draft: AnswerDraft = {
    parser: createAnswerParser(services.codeSyntax, { startsInThought: startsWithThought(messages) }),
    reasoning: [],
    calls: [],
    raw: "",
    half: "",
    codeId: "",
    usage: noUsage,
  }
  let continuations = 0
  let note: string | undefined
  for (;;) {
    const request = note === undefined ? messages : continuationRequest(messages, draft, note)
    const { finish, error } = await readStream(services, request, draft, emit)
    emitPieces(draft, draft.parser.settle(), services.language, emit)
    if (draft.parser.done || (draft.calls.length > 0 && error === undefined)) break
    const reason = error === undefined ? cutByOutputLimit(finish) : cutByConnection(error, draft)
    if (reason === undefined) {
      if (error !== undefined) draft.error = error
      break
    }
    if (continuations++ === maxContinuations) {
      draft.error = error ?? truncatedError(maxContinuations + 1)
      break
    }
    const message = `The answer was ${reason.description}; going on from there.`
    emit({ type: "warning-raised", code: "answer-continued", message })
    note = draft.raw ? reason.note : reason.noteIfSilent
    draft.parser.resume()
  }
  emitPieces(draft, draft.parser.end(), services.language, emit)
  const written = partsOf(draft)
  let parts = written
  if (services.review && draft.error === undefined && hasContent(parts)) {
    try {
      parts = await services.review(parts, draft.usage)
    } catch (error) {
      return { ...toStreamedAnswer(draft), error }
    }
  }
  const answer = finishMessage(draft, parts, emit)
  // A hook that changed the answer decides what it means.
  if (parts !== written || !answer.message) return answer
  const { sendBack, hasMoreCode } = draft.parser.answer()
  return { ...answer, sendBack, hasMoreCode }
}

// A model that wrote its last thought without the opening tag does so in every answer.
function startsWithThought(messages: readonly Message[]): boolean {
  const last = messages.findLast(({ role }) => role === "assistant")
  const text = last?.parts.find((part) => part.type === "text")
  return text !== undefined && startsInThought(text.text)
}

interface AnswerDraft extends Omit<StreamedAnswer, "message"> {
  parser: AnswerParser
  reasoning: ReasoningPart[]
  calls: ToolCallPart[]
  /** The answer as written, with its fences. */
  raw: string
  /** The first half of a surrogate pair whose second half comes with the next part. */
  half: string
  codeId: string
  finish?: FinishReason | undefined
}

async function readStream(
  { model, signal, request, language, callIds, systemTokens }: AnswerServices,
  messages: readonly Message[],
  draft: AnswerDraft,
  emit: Emit,
): Promise<{ finish?: FinishReason | undefined; error?: unknown }> {
  let usage: Usage | undefined
  let finish: FinishReason | undefined
  let isAnswered = false
  let written = ""
  let trailing = 0
  let parts: ModelStreamReader | undefined
  try {
    parts = new ModelStreamReader(model.stream({ ...request, messages, signal, ...modelWarningHandlers(emit) }), signal)
    for (let part = await parts.next(); part; part = await parts.next()) {
      isAnswered = true
      if (part.type === "finish") {
        usage = part.usage
        finish = part.reason
        break
      }
      if (part.type === "tool-call" && request.tools?.length) {
        draft.calls.push({ ...part, id: uniqueCallId(part.id, callIds) })
        written += JSON.stringify(part.input)
        continue
      }
      if (part.type === "tool-call") {
        const message = `The model called a tool "${part.name}", but this agent has none; the call was ignored.`
        emit({ type: "warning-raised", code: "unknown-tool", message })
        continue
      }
      written += part.text
      if (part.type === "reasoning") {
        addReasoning(draft, part)
        if (part.text) emit({ type: "reasoning-delta", text: part.text })
        continue
      }
      const isTrailing = draft.parser.done
      const text = wholeCharacters(draft, part.text)
      draft.raw += text
      emitPieces(draft, draft.parser.push(text), language, emit)
      if (isTrailing && draft.parser.done) trailing += estimateTokens(part.text)
      if (trailing > maxTrailingTokens) break
    }
    if (finish === undefined && !draft.parser.done) throw streamEndedError(model)
    if (finish === "content-filter" && !draft.parser.done) throw contentFilterError(model)
    if (finish === "error" && !draft.parser.done) throw serviceError(model)
    return { finish }
  } catch (error) {
    return { error }
  } finally {
    parts?.close()
    draft.finish = finish
    // A continuation sends more than the messages, so only the first count applies to them.
    if (draft.usage === noUsage) draft.counted = usage?.input
    // A request that failed before the first part counts no tokens.
    if (isAnswered) {
      const counted = withEstimatedUsage(usage, () => systemTokens + estimateMessages(messages), written)
      draft.usage = addUsage(draft.usage, withCost(counted, model.price))
    }
  }
}

// Estimates what the provider did not count, and marks the usage as incomplete.
function withEstimatedUsage(usage: Usage | undefined, input: () => number, written: string): Usage {
  // A copy, because the object belongs to the model, and this one is frozen with its event.
  if (usage?.input !== undefined && usage.output !== undefined) return { ...usage }
  const { input: counted = input(), output = estimateTokens(written) } = usage ?? {}
  return { ...usage, input: counted, output, complete: false }
}

function emitPieces(draft: AnswerDraft, pieces: readonly ParsedPiece[], language: string, emit: Emit): void {
  for (const piece of pieces) {
    if (piece.type === "text") emit({ type: "text-delta", text: piece.text })
    if (piece.type === "code-start") {
      draft.codeId = newId("c")
      emit({ type: "code-start", id: draft.codeId, language })
    }
    if (piece.type === "code") emit({ type: "code-delta", id: draft.codeId, of: "source", text: piece.text })
  }
}

function wholeCharacters(draft: AnswerDraft, chunk: string): string {
  const text = draft.half + chunk
  const last = text.charCodeAt(text.length - 1)
  draft.half = last >= 0xd800 && last < 0xdc00 ? text.slice(-1) : ""
  return wellFormed(draft.half ? text.slice(0, -1) : text)
}

function finishMessage(draft: AnswerDraft, parts: AssistantMessage["parts"], emit: Emit): StreamedAnswer {
  const answer = toStreamedAnswer(draft)
  if (!hasContent(parts)) return answer
  const message: AssistantMessage = { id: newId("m"), role: "assistant", parts }
  const finish = draft.error === undefined ? (draft.finish ?? "stop") : "error"
  emit({ type: "message-end", message, finish, usage: draft.usage })
  answer.message = message
  return answer
}

function toStreamedAnswer({ usage, counted, error }: AnswerDraft): StreamedAnswer {
  return { message: undefined, usage, counted, error }
}

function hasContent(parts: AssistantMessage["parts"]): boolean {
  return parts.some((part) => part.type !== "reasoning")
}

function partsOf(draft: AnswerDraft): AssistantMessage["parts"] {
  const { text, code } = draft.parser.answer()
  const parts: AssistantMessage["parts"] = [...draft.reasoning]
  if (text.trim()) parts.push({ type: "text", text: text.trimEnd() })
  if (code) parts.push({ type: "code", id: draft.codeId, ...code })
  parts.push(...draft.calls)
  return parts
}

/** Returns a unique id for a call, because its result is found by it. */
export function uniqueCallId(given: string, seen: Set<string>): string {
  const id = given.trim() === "" || seen.has(given) ? newId("call") : given
  seen.add(id)
  return id
}

function addReasoning(draft: AnswerDraft, part: Extract<ModelPart, { type: "reasoning" }>): void {
  const last = draft.reasoning.at(-1)
  // A signature ends a piece of reasoning; the next text starts another piece.
  if (last && !last.provider) {
    last.text += part.text
    if (part.provider) last.provider = part.provider
    return
  }
  draft.reasoning.push({ type: "reasoning", text: part.text, ...(part.provider && { provider: part.provider }) })
}

interface CutReason {
  /** Completes “The answer was …”. */
  description: string
  note: string
  noteIfSilent: string
}

const continueInstruction =
  "Go on exactly where you stopped: no apology, no repetition, not even of the last line. If you were inside a code block, continue the code itself."

function cutByOutputLimit(finish: FinishReason | undefined): CutReason | undefined {
  if (finish !== "length") return undefined
  return {
    description: "cut by the output limit",
    note: `(Your answer hit the output limit. ${continueInstruction} Keep what is left short.)`,
    noteIfSilent: "(You reached the output limit before you answered. Think less and answer, in smaller pieces.)",
  }
}

// After a dropped connection the answer is continued: a retry would lose or repeat text.
function cutByConnection(error: unknown, draft: AnswerDraft): CutReason | undefined {
  if (!(error instanceof ModelError) || !draft.raw || draft.calls.length > 0) return undefined
  if (error.code !== "connection" && error.code !== "stalled") return undefined
  const note = `(The connection dropped in the middle of your answer. ${continueInstruction})`
  return { description: "interrupted by a dropped connection", note, noteIfSilent: note }
}

function continuationRequest(messages: readonly Message[], draft: AnswerDraft, note: string): Message[] {
  const request = messages.slice()
  if (draft.raw) request.push({ id: newId("m"), role: "assistant", parts: [{ type: "text", text: draft.raw }] })
  request.push(userMessage(note, "host"))
  return request
}
