import { onAbort } from "../core/abort.ts"
import { abortError } from "../core/run.ts"
import type { ModelPart } from "./model.ts"

/** Reads a model's stream so that neither a silent stream nor a hanging close can hold up an abort. */
export class ModelStreamReader {
  #iterator: AsyncIterator<ModelPart>
  #signal: AbortSignal
  #stop: ((error: Error) => void) | undefined
  #unlisten: () => void

  constructor(stream: AsyncIterable<ModelPart>, signal: AbortSignal) {
    this.#iterator = stream[Symbol.asyncIterator]()
    this.#signal = signal
    this.#unlisten = onAbort(signal, () => this.#stop?.(abortError(signal)))
  }

  next(): Promise<ModelPart | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#signal.aborted) throw abortError(this.#signal)
      this.#stop = reject
      this.#iterator.next().then((result) => resolve(result.done ? undefined : result.value), reject)
    })
  }

  /** Ends the request; how that goes is the stream's own affair and changes nothing for us. */
  close(): void {
    this.#unlisten()
    this.#iterator.return?.()?.then(undefined, () => undefined)
  }
}
