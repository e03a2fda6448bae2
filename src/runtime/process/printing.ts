import type { OutputChunk } from "../runtime.ts"
import type { FromChild } from "./protocol.ts"

/** The way of what cells print. It goes out in bundles: a message for each line would cost more than the line. */
export interface Printer {
  print(execution: number, chunk: OutputChunk): void
  /** Sends what was printed so far: whatever is sent otherwise comes after it. */
  flush(): void
}

export function createPrinter(send: (message: Extract<FromChild, { type: "output" }>) => void): Printer {
  let bundle: { id: number; stream: OutputChunk["stream"]; text: string } | undefined
  let scheduled = false

  const flush = () => {
    const printed = bundle
    bundle = undefined
    if (printed) send({ type: "output", ...printed })
  }

  return {
    print(id, { stream, text }) {
      if (bundle && (bundle.id !== id || bundle.stream !== stream)) flush()
      if (bundle) bundle.text += text
      else bundle = { id, stream, text }
      if (bundle.text.length > longestBundle) return flush()
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

const longestBundle = 16_000
