import { ModelError } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import {
  type AssistantMessage,
  type Message,
  newId,
  type ReasoningPart,
  type ToolCallPart,
  userMessage,
  wellFormed,
} from "../core/message.ts"
import { addUsage, estimateTokens, noUsage, type Usage, withCost } from "../core/usage.ts"
import { estimateMessages } from "../memory/estimate-tokens.ts"
import type { FinishReason, Model, ModelPart, ModelRequest } from "../models/model.ts"
import { modelWarningHandlers } from "../models/model-warnings.ts"
import { ModelStreamReader } from "../models/stream-reader.ts"
import { type AnswerParser, createAnswerParser, type ParsedPiece } from "./parse.ts"

export interface AnswerServices {
  model: Model
  request: Omit<ModelRequest, "messages" | "signal">
  signal: AbortSignal
  /** The fence tags that make a block a cell; none for an agent that only calls tools. */
  tags: readonly string[]
  language: "typescript" | "python"
  /** Ids of tool calls that this conversation has seen: some providers give the same one again. */
  callIds: Set<string>
  /** Estimated for the system prompt and the tools. */
  systemTokens: number
  /** May change an answer before it is remembered. */
  review?: ((parts: AssistantMessage["parts"], usage: Usage) => Promise<AssistantMessage["parts"]>) | undefined
}

/** What one turn of the model came to. `message` is absent when it said nothing. */
export interface StreamedAnswer {
  message?: AssistantMessage | undefined
  usage: Usage
  /** The tokens of the messages asked with, where the provider counted them. */
  counted?: number | undefined
  error?: unknown
}

// How many more tokens are read after the first code block closes, in the hope of the usage in the last chunk.
const maxTrailingTokens = 200
const maxContinuations = 3

/** Streams one answer and parses it as it comes. An answer cut by the output limit, or by a dropped connection, is
 *  continued and joined. Never throws: what was said until an error is kept, beside the error. */
export async function streamAnswer(
  services: AnswerServices,
  messages: readonly Message[],
  emit: Emit,
): Promise<StreamedAnswer> {
  const turn: AnswerDraft = {
    parser: createAnswerParser(services.tags, services.language),
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
    const asked = note === undefined ? messages : continuationRequest(messages, turn, note)
    const { finish, error } = await readStream(services, asked, turn, emit)
    emitPieces(turn, turn.parser.settle(), services.language, emit)
    if (turn.parser.done || (turn.calls.length > 0 && error === undefined)) break
    const reason = error === undefined ? cutByOutputLimit(finish) : cutByConnection(error, turn)
    if (reason === undefined) {
      if (error !== undefined) turn.error = error
      break
    }
    if (continuations++ === maxContinuations) {
      turn.error = error ?? truncatedError()
      break
    }
    const message = `The answer was ${reason.what}; going on from there.`
    emit({ type: "warning-raised", code: "answer-continued", message })
    note = turn.raw ? reason.note : reason.noteIfSilent
    turn.parser.resume()
  }
  emitPieces(turn, turn.parser.end(), services.language, emit)
  let parts = partsOf(turn)
  if (services.review && turn.error === undefined && hasContent(parts)) {
    try {
      parts = await services.review(parts, turn.usage)
    } catch (error) {
      return { ...toStreamedAnswer(turn), error }
    }
  }
  return finishMessage(turn, parts, emit)
}

interface AnswerDraft {
  parser: AnswerParser
  reasoning: ReasoningPart[]
  calls: ToolCallPart[]
  /** The answer as it was written, fences and all. */
  raw: string
  /** The first half of a surrogate pair whose second half comes with the next part. */
  half: string
  /** Of its cell, once it has one. */
  codeId: string
  usage: Usage
  counted?: number | undefined
  finish?: FinishReason | undefined
  error?: unknown
}

async function readStream(
  { model, signal, request, language, callIds, systemTokens }: AnswerServices,
  messages: readonly Message[],
  turn: AnswerDraft,
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
        turn.calls.push({ ...part, id: uniqueCallId(part.id, callIds) })
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
        addReasoning(turn, part)
        if (part.text) emit({ type: "reasoning-delta", text: part.text })
        continue
      }
      if (turn.parser.done) {
        trailing += estimateTokens(part.text)
        if (trailing > maxTrailingTokens) break
        continue
      }
      const text = wholeCharacters(turn, part.text)
      turn.raw += text
      emitPieces(turn, turn.parser.push(text), language, emit)
    }
    if (finish === undefined && !turn.parser.done) throw streamEndedError(model)
    if (finish === "content-filter" && !turn.parser.done) throw contentFilterError(model)
    if (finish === "error" && !turn.parser.done) throw serviceError(model)
    return { finish }
  } catch (error) {
    return { error }
  } finally {
    parts?.close()
    turn.finish = finish
    // A continuation asks with more than the messages: only the first count is of them.
    if (turn.usage === noUsage) turn.counted = usage?.input
    // A request that was refused, or aborted before the first part came, counts no tokens.
    if (isAnswered) {
      const counted = withEstimatedUsage(usage, () => systemTokens + estimateMessages(messages), written)
      turn.usage = addUsage(turn.usage, withCost(counted, model.price))
    }
  }
}

// What the provider did not count is estimated, and says so.
function withEstimatedUsage(usage: Usage | undefined, input: () => number, written: string): Usage {
  // A copy: the object is the model's, and the one that is counted is frozen with its event.
  if (usage?.input !== undefined && usage.output !== undefined) return { ...usage }
  const { input: counted = input(), output = estimateTokens(written) } = usage ?? {}
  return { ...usage, input: counted, output, complete: false }
}

function emitPieces(turn: AnswerDraft, pieces: readonly ParsedPiece[], language: string, emit: Emit): void {
  for (const piece of pieces) {
    if (piece.type === "text") emit({ type: "text-delta", text: piece.text })
    if (piece.type === "code-start") {
      turn.codeId = newId("c")
      emit({ type: "code-start", id: turn.codeId, language })
    }
    if (piece.type === "code") emit({ type: "code-delta", id: turn.codeId, of: "source", text: piece.text })
  }
}

function wholeCharacters(turn: AnswerDraft, chunk: string): string {
  const text = turn.half + chunk
  const last = text.charCodeAt(text.length - 1)
  turn.half = last >= 0xd800 && last < 0xdc00 ? text.slice(-1) : ""
  return wellFormed(turn.half ? text.slice(0, -1) : text)
}

function finishMessage(turn: AnswerDraft, parts: AssistantMessage["parts"], emit: Emit): StreamedAnswer {
  const thought = toStreamedAnswer(turn)
  if (!hasContent(parts)) return thought
  const message: AssistantMessage = { id: newId("m"), role: "assistant", parts }
  const finish = turn.error === undefined ? (turn.finish ?? "stop") : "error"
  emit({ type: "message-end", message, finish, usage: turn.usage })
  thought.message = message
  return thought
}

function toStreamedAnswer({ usage, counted, error }: AnswerDraft): StreamedAnswer {
  return { message: undefined, usage, counted, error }
}

function hasContent(parts: AssistantMessage["parts"]): boolean {
  return parts.some((part) => part.type !== "reasoning")
}

function partsOf(turn: AnswerDraft): AssistantMessage["parts"] {
  const { text, code } = turn.parser.answer()
  const parts: AssistantMessage["parts"] = [...turn.reasoning]
  if (text.trim()) parts.push({ type: "text", text: text.trimEnd() })
  if (code) parts.push({ type: "code", id: turn.codeId, ...code })
  parts.push(...turn.calls)
  return parts
}

/** An id for a call, whatever the provider says: its result is found by it. */
export function uniqueCallId(given: string, seen: Set<string>): string {
  const id = given.trim() === "" || seen.has(given) ? newId("call") : given
  seen.add(id)
  return id
}

function addReasoning(turn: AnswerDraft, part: Extract<ModelPart, { type: "reasoning" }>): void {
  const last = turn.reasoning.at(-1)
  // A signature ends a piece of reasoning: what follows it is another piece.
  if (last && !last.provider) {
    last.text += part.text
    if (part.provider) last.provider = part.provider
    return
  }
  turn.reasoning.push({ type: "reasoning", text: part.text, ...(part.provider && { provider: part.provider }) })
}

interface CutReason {
  what: string
  note: string
  noteIfSilent: string
}

const continueInstruction =
  "Go on exactly where you stopped: no apology, no repetition, not even of the last line. If you were inside a code block, continue the code itself."

function cutByOutputLimit(finish: FinishReason | undefined): CutReason | undefined {
  if (finish !== "length") return undefined
  return {
    what: "cut by the output limit",
    note: `(Your answer hit the output limit. ${continueInstruction} Keep what is left short.)`,
    noteIfSilent: "(You reached the output limit before you answered. Think less and answer, in smaller pieces.)",
  }
}

// A connection that drops after the answer began cannot be retried without losing or repeating what was said.
function cutByConnection(error: unknown, turn: AnswerDraft): CutReason | undefined {
  if (!(error instanceof ModelError) || !turn.raw || turn.calls.length > 0) return undefined
  if (error.code !== "connection" && error.code !== "stalled") return undefined
  const note = `(The connection dropped in the middle of your answer. ${continueInstruction})`
  return { what: "interrupted by a dropped connection", note, noteIfSilent: note }
}

function continuationRequest(messages: readonly Message[], turn: AnswerDraft, note: string): Message[] {
  const request = messages.slice()
  if (turn.raw) request.push({ id: newId("m"), role: "assistant", parts: [{ type: "text", text: turn.raw }] })
  request.push(userMessage(note, "host"))
  return request
}

function truncatedError(): ModelError {
  const message = `The answer hit the output limit ${maxContinuations + 1} times in a row. Raise the model's output limit, or ask for less at a time.`
  return new ModelError(message, { code: "truncated" })
}

function streamEndedError(model: Model): ModelError {
  const message = `The stream of "${model.id}" ended before its answer did.`
  return new ModelError(message, { code: "connection", retryable: true })
}

function serviceError(model: Model): ModelError {
  const message = `The service behind "${model.id}" broke its answer off with an error. Try again later.`
  return new ModelError(message, { code: "server-error", retryable: true })
}

function contentFilterError(model: Model): ModelError {
  return new ModelError(`The provider of "${model.id}" withheld the answer (content filter).`, {
    code: "content-filter",
  })
}
