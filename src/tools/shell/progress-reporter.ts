// Reports a command's output to observers at a limited rate.
import { createPreview } from "./output-preview.ts"

/** Reports output immediately, then at most ten times a second. Of much output, only beginning and end. */
export function createProgressReporter(report: (text: string) => void) {
  const unreported = createPreview(maxBytes)
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const { head, tail } = unreported.take(isOver)
    if (head === "") return
    report(tail === "" ? head : `${head}…\n${tail}`)
    if (isOver) return
    timer = setTimeout(flush, reportIntervalMs)
    timer.unref()
  }
  return {
    add(chunk: Uint8Array): void {
      if (isOver) return
      unreported.add(chunk)
      if (timer === undefined) flush()
    },
    /** Reports the rest, and nothing afterwards. */
    end(): void {
      isOver = true
      flush()
    },
  }
}

const reportIntervalMs = 100
const maxBytes = 2000
