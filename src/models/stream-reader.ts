// Reads a model's stream so that an abort takes effect immediately.
import { onAbort } from "../core/abort.ts"
import { abortError } from "../core/run.ts"
import type { ModelPart } from "./model.ts"

/** Neither a silent stream nor a hanging close can delay an abort. */
export class ModelStreamReader {
  #iterator: AsyncIterator<ModelPart>
  #signal: AbortSignal
  #stop: ((error: Error) => void) | undefined
  #stopListening: () => void

  constructor(stream: AsyncIterable<ModelPart>, signal: AbortSignal) {
    this.#iterator = stream[Symbol.asyncIterator]()
    this.#signal = signal
    this.#stopListening = onAbort(signal, () => this.#stop?.(abortError(signal)))
  }

  next(): Promise<ModelPart | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#signal.aborted) throw abortError(this.#signal)
      this.#stop = reject
      this.#iterator.next().then((result) => resolve(result.done ? undefined : result.value), reject)
    })
  }

  /** Ends the request without waiting for it. */
  close(): void {
    this.#stopListening()
    this.#iterator.return?.()?.then(undefined, () => undefined)
  }
}
