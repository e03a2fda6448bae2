import { preview } from "./preview.ts"

export interface Teller {
  add(chunk: Uint8Array): void
  /** Tells the rest, and no more after that. */
  end(): void
}

/** Tells what a command writes to whoever watches: at once, then at most ten times a second, of a flood its ends. */
export function progressTeller(tell: (text: string) => void): Teller {
  const waiting = preview(mostBytes)
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const { head, tail } = waiting.take(isOver)
    if (head === "") return
    tell(tail === "" ? head : `${head}…\n${tail}`)
    if (isOver) return
    timer = setTimeout(flush, everyMs)
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

const everyMs = 100
const mostBytes = 2000
