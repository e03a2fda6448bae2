// Building blocks for models that wrap other models.
import type { Model, ModelPart, ModelRequest } from "./model.ts"

/** Returns the same model with another `stream` function. */
export function wrapModel(model: Model, stream: Model["stream"]): Model {
  return { id: model.id, contextWindow: model.contextWindow, price: model.price, stream }
}

/** Passes on the parts of a model's answer. Returns undefined at its end; if the model fails, what was thrown, and
 *  whether a part had been passed on before. */
export async function* passOnParts(
  model: Model,
  request: ModelRequest,
): AsyncGenerator<ModelPart, Failure | undefined> {
  let started = false
  try {
    for await (const part of model.stream(request)) {
      started = true
      yield part
    }
    return undefined
  } catch (thrown) {
    return { thrown, started }
  }
}

interface Failure {
  thrown: unknown
  started: boolean
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
