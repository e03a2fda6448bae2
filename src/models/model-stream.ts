import type { Model, ModelPart } from "./model.ts"

/** The same model with another way to stream: how wrappers are made. */
export function wrapModel(model: Model, stream: Model["stream"]): Model {
  return { id: model.id, contextWindow: model.contextWindow, price: model.price, stream }
}

/** A stream that can be closed at any moment, even while a part is awaited. `generate` gets a signal that fires when the
 *  caller's does or when the reader leaves; closing never waits for what the generator does about it. */
export function closableStream(
  outer: AbortSignal | undefined,
  generate: (signal: AbortSignal) => AsyncGenerator<ModelPart>,
): AsyncIterable<ModelPart> {
  return {
    [Symbol.asyncIterator]() {
      const controller = new AbortController()
      const abort = () => controller.abort(outer?.reason)
      const leave = () => outer?.removeEventListener("abort", abort)
      if (outer?.aborted) abort()
      else outer?.addEventListener("abort", abort, { once: true })
      const parts = generate(controller.signal)
      const end: IteratorReturnResult<undefined> = { value: undefined, done: true }
      let closed = false
      return {
        async next() {
          try {
            const part = await parts.next()
            if (part.done) leave()
            return closed ? end : part
          } catch (error) {
            leave()
            if (closed) return end
            throw error
          }
        },
        async return() {
          closed = true
          leave()
          controller.abort()
          parts.return(undefined).catch(() => {})
          return end
        },
      }
    },
  }
}
