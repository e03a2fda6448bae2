import type { WireObject } from "../../handles/wire.ts"
import type { CellOutput } from "../../runtime.ts"

/** Sends what cells print, in bundles: a message for each line would cost more than the line. */
export interface OutputBatcher {
  print(execution: string, chunk: CellOutput): void
  /** Sends what was printed so far. Called before any other message, which keeps the order. */
  flush(): void
}

export function createOutputBatcher(send: (message: WireObject) => void): OutputBatcher {
  let bundle: { id: string; stream: CellOutput["stream"]; text: string } | undefined
  let scheduled = false

  const flush = () => {
    const printed = bundle
    bundle = undefined
    if (printed) send({ k: "out", x: printed.id, s: printed.stream, t: printed.text })
  }

  return {
    print(id, { stream, text }) {
      if (bundle && (bundle.id !== id || bundle.stream !== stream)) flush()
      if (bundle) bundle.text += text
      else bundle = { id, stream, text }
      if (bundle.text.length > maxBatchLength) return flush()
      if (scheduled) return
      scheduled = true
      setImmediate(() => {
        scheduled = false
        flush()
      })
    },
    flush,
  }
}

const maxBatchLength = 16_000
