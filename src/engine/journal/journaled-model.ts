import { type ErrorData, errorData, isAbortError, ModelError, type ModelErrorCode } from "../../core/errors.ts"
import type { Model, ModelPart } from "../../models/model.ts"

/** An answer as it was recorded; with `error`, it broke off there. */
export interface RecordedAnswer {
  parts: ModelPart[]
  error?: ErrorData
}

/** One call of a model. */
export interface JournaledModelCall {
  answer: RecordedAnswer | undefined
  /** Rejects where this worker no longer holds the run: then the model is not asked. */
  begin(): Promise<void>
  record(answer: RecordedAnswer): Promise<void>
}

/** A model whose answers are recorded before anything is done about them, and given again where there is a record. */
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
        return record({ parts, ...(error && { error }) })
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
        // Who reads may leave early: nobody waits for this then, but what is recorded later comes after it.
        if (!request.signal?.aborted) save()?.catch(() => undefined)
      }
    },
  }
}

// Deltas are merged: a record is as long as its answer, not as its stream.
function mergePart(parts: ModelPart[], part: ModelPart): void {
  const last = parts.at(-1)
  if (part.type === "text" && last?.type === "text") last.text += part.text
  else if (part.type === "reasoning" && last?.type === "reasoning" && !last.provider) {
    parts[parts.length - 1] = { ...part, text: last.text + part.text }
  } else parts.push({ ...part })
}

function restoreModelError({ name, message, code, retryable }: ErrorData): Error {
  // A code of a recorded ModelError is one of them.
  if (name === "ModelError") return new ModelError(message, { code: code as ModelErrorCode, retryable })
  return Object.assign(new Error(message), { name })
}
