import { createPreview } from "./output-preview.ts"

export interface ProgressReporter {
  add(chunk: Uint8Array): void
  /** Tells the rest, and no more after that. */
  end(): void
}

/** Tells what a command writes to whoever watches: at once, then at most ten times a second, of a flood its ends. */
export function createProgressReporter(tell: (text: string) => void): ProgressReporter {
  const waiting = createPreview(maxBytes)
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const { head, tail } = waiting.take(isOver)
    if (head === "") return
    tell(tail === "" ? head : `${head}…\n${tail}`)
    if (isOver) return
    timer = setTimeout(flush, reportIntervalMs)
    timer.unref()
  }
  return {
    add(chunk) {
      if (isOver) return
      waiting.add(chunk)
      if (timer === undefined) flush()
    },
    end() {
      isOver = true
      flush()
    },
  }
}

const reportIntervalMs = 100
const maxBytes = 2000
