// Sends the output of cells to the host in batches: one message per line would cost more than the line.
import type { WireObject } from "../../handles/wire.ts"
import type { CellOutput } from "../../runtime.ts"

export function createOutputBatcher(send: (message: WireObject) => void) {
  let batch: { id: string; stream: CellOutput["stream"]; text: string } | undefined
  let scheduled = false

  /** Sends the output so far. Called before any other message, to keep the order. */
  const flush = () => {
    const printed = batch
    batch = undefined
    if (!printed) return
    const { id: x, stream: s, text } = printed
    // In pieces, because a message has a maximum length.
    for (const t of text.match(piecePattern) ?? []) send({ k: "out", x, s, t })
  }

  return {
    print(id: string, { stream, text }: CellOutput): void {
      if (batch && (batch.id !== id || batch.stream !== stream)) flush()
      if (batch) batch.text += text
      else batch = { id, stream, text }
      if (batch.text.length > maxBatchLength) return flush()
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
const piecePattern = new RegExp(`[^]{1,${maxBatchLength}}`, "gu")
