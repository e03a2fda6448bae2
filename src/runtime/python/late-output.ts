// Collects output printed while no cell runs, for example by threads. The next cell reports it.
import type { CellOutput } from "../runtime.ts"

export interface LateOutput {
  add(chunk: CellOutput): void
  /** Returns and removes all output. */
  drain(): CellOutput[]
}

export function createLateOutput(): LateOutput {
  let chunks: CellOutput[] = []
  let length = 0
  return {
    add({ stream, text: given }) {
      const text = given.slice(0, maxCharacters - length)
      if (text === "") return
      length += text.length
      const last = chunks.at(-1)
      if (last?.stream === stream) last.text += text
      else chunks.push({ stream, text })
    },
    drain() {
      const taken = chunks
      chunks = []
      length = 0
      return taken
    },
  }
}

const maxCharacters = 100_000
