// Building blocks for models that wrap other models.
import type { Model, ModelPart } from "./model.ts"

/** Returns the same model with another `stream` function. */
export function wrapModel(model: Model, stream: Model["stream"]): Model {
  return { id: model.id, contextWindow: model.contextWindow, price: model.price, stream }
}

/** Makes a stream that can be closed at any moment, even while a part is awaited. `generate` gets a signal that
 *  fires when the caller's signal fires or the reader closes. Closing never waits for the generator. */
export function closableStream(
  callerSignal: AbortSignal | undefined,
  generate: (signal: AbortSignal) => AsyncGenerator<ModelPart>,
): AsyncIterable<ModelPart> {
  return {
    [Symbol.asyncIterator]() {
      const controller = new AbortController()
      const abort = () => controller.abort(callerSignal?.reason)
      const stopListening = () => callerSignal?.removeEventListener("abort", abort)
      if (callerSignal?.aborted) abort()
      else callerSignal?.addEventListener("abort", abort, { once: true })
      const parts = generate(controller.signal)
      const end: IteratorReturnResult<undefined> = { value: undefined, done: true }
      let closed = false
      return {
        async next() {
          try {
            const part = await parts.next()
            if (part.done) stopListening()
            return closed ? end : part
          } catch (error) {
            stopListening()
            if (closed) return end
            throw error
          }
        },
        async return() {
          closed = true
          stopListening()
          controller.abort()
          parts.return(undefined).catch(() => {})
          return end
        },
      }
    },
  }
}
