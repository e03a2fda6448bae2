import type { OutputChunk } from "../runtime.ts"

/** What is printed while no cell runs, by threads for example: the next cell tells it. */
export interface LateOutput {
  add(chunk: OutputChunk): void
  /** All of it, which is then no longer here. */
  take(): OutputChunk[]
}

export function lateOutput(): LateOutput {
  let chunks: OutputChunk[] = []
  let length = 0
  return {
    add({ stream, text: given }) {
      const text = given.slice(0, most - length)
      if (text === "") return
      length += text.length
      const last = chunks.at(-1)
      if (last?.stream === stream) last.text += text
      else chunks.push({ stream, text })
    },
    take() {
      const taken = chunks
      chunks = []
      length = 0
      return taken
    },
  }
}

const most = 100_000
