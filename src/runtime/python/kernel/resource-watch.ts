// Watches the memory, processes and CPU time of a process tree, and reports when a limit is exceeded.
import { processTree } from "../../../core/child/process-tree.ts"
import { cpuMsOf, findExcess } from "../../../core/child/process-usage.ts"

export interface ResourceWatchOptions {
  pid: number
  memoryMb: number
  processes: number
  cpuMs?: number | undefined
  /** Time between two checks. Default 50. */
  everyMs?: number | undefined
}

/** `why` completes a sentence: "it …". */
export type OnExceeded = (kind: "memory" | "timeout", why: string) => void

/** Returns a function that stops watching. */
export function watchResourceUse(options: ResourceWatchOptions, onExceeded: OnExceeded): () => void {
  const { pid, memoryMb, processes, cpuMs, everyMs = 50 } = options
  const cpuMsAtStart = cpuMs === undefined ? 0 : cpuMsOf(processTree(pid, processes))
  const timer = setInterval(() => {
    // Count at most one process too many: with a flood of processes, counting all would take too long.
    const tree = processTree(pid, processes + 1)
    if (tree.length > processes) return onExceeded("memory", `it started more than ${processes} processes`)
    const excess = findExcess(tree, { memoryMb, cpuMs, cpuMsAtStart })
    if (excess?.kind === "memory")
      onExceeded("memory", `it took ${Math.round(excess.usedMb)} MB, and may take ${memoryMb} MB`)
    if (excess?.kind === "cpu") onExceeded("timeout", `it used more than ${cpuMs} ms of processor time`)
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
