// Records the answers of a model in the journal and replays them.
import { type ErrorData, errorData, isAbortError, ModelError, type ModelErrorCode } from "../../core/errors.ts"
import { estimateTokens, type Price, type Usage, withCost } from "../../core/usage.ts"
import { estimateMessages } from "../../memory/estimate-tokens.ts"
import type { Model, ModelPart, ModelRequest } from "../../models/model.ts"

/** A recorded answer; with `error`, the answer failed after these parts. */
export interface RecordedAnswer {
  parts: ModelPart[]
  error?: ErrorData
  /** The estimated usage of an answer that failed after its first part. */
  usage?: Usage
}

/** One call of a model and its place in the journal. */
export interface JournaledModelCall {
  answer: RecordedAnswer | undefined
  /** Rejects if this worker no longer holds the run, so that the model is not called. */
  begin(): Promise<void>
  record(answer: RecordedAnswer): Promise<void>
}

/** A model whose answers are recorded before the run acts on them, and replayed if they are recorded. */
export function createJournaledModel(model: Model, recorded: () => JournaledModelCall): Model {
  return {
    id: model.id,
    contextWindow: model.contextWindow,
    price: model.price,
    async *stream(request) {
      const { answer, begin, record } = recorded()
      if (answer) {
        yield* answer.parts
        if (answer.error) throw restoreModelError(answer.error)
        return
      }
      await begin()
      const parts: ModelPart[] = []
      let isRecorded = false
      const save = (error?: ErrorData) => {
        if (isRecorded) return undefined
        isRecorded = true
        if (!error) return record({ parts })
        return record({ parts, error, ...(parts.length > 0 && { usage: estimatedUsage(request, parts, model.price) }) })
      }
      try {
        for await (const part of model.stream(request)) {
          mergePart(parts, part)
          if (part.type === "finish") await save()
          yield part
        }
        await save()
      } catch (error) {
        if (!isAbortError(error)) await save(errorData(error))
        throw error
      } finally {
        // The reader may stop early. Later entries are still written after this one.
        if (!request.signal?.aborted) save()?.catch(() => undefined)
      }
    },
  }
}

// The service counts only the tokens of whole answers.
function estimatedUsage(
  { system = "", messages }: ModelRequest,
  parts: readonly ModelPart[],
  price: Price | undefined,
): Usage {
  const written = parts.map((part) => ("text" in part ? part.text : part.type === "tool-call" ? part.input : ""))
  const input = estimateTokens(system) + estimateMessages(messages)
  const output = estimateTokens(
    written.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join(""),
  )
  return withCost({ input, output, complete: false }, price)
}

// Deltas are merged, so that an entry is as long as the answer and not as its stream.
function mergePart(parts: ModelPart[], part: ModelPart): void {
  const last = parts.at(-1)
  if (part.type === "text" && last?.type === "text") last.text += part.text
  else if (part.type === "reasoning" && last?.type === "reasoning" && !last.provider) {
    parts[parts.length - 1] = { ...part, text: last.text + part.text }
  } else parts.push({ ...part })
}

function restoreModelError({ name, message, code, retryable }: ErrorData): Error {
  // The code of a recorded ModelError is a ModelErrorCode.
  if (name === "ModelError") return new ModelError(message, { code: code as ModelErrorCode, retryable })
  return Object.assign(new Error(message), { name })
}
