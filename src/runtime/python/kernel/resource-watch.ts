import { cpuMsOf, exactMemoryBytesOf, memoryBytesOf, processTree } from "../../../core/child/process-usage.ts"

export interface WatchOptions {
  pid: number
  memoryMb: number
  processes: number
  cpuMs?: number | undefined
  /** How often to look. Default 50. */
  everyMs?: number | undefined
}

/** Told what is too much, as the end of a sentence: "it …". */
export type OnExceeded = (kind: "memory" | "timeout", why: string) => void

/** Looks at what a process and all below it use, and tells when it is too much. Gives the end of it. */
export function watchResourceUse(
  { pid, memoryMb, processes, cpuMs, everyMs = 50 }: WatchOptions,
  tell: OnExceeded,
): () => void {
  const before = cpuMs === undefined ? 0 : cpuMsOf(processTree(pid, processes))
  const timer = setInterval(() => {
    // No more are looked at than there may be: a flood of them leaves little time to look.
    const tree = processTree(pid, processes + 1)
    if (tree.length > processes) return tell("memory", `it started more than ${processes} processes`)
    const most = memoryMb * megabyte
    const used = memoryBytesOf(tree) > most ? exactMemoryBytesOf(tree) : 0
    if (used > most) return tell("memory", `it took ${Math.round(used / megabyte)} MB, and may take ${memoryMb} MB`)
    if (cpuMs === undefined || cpuMsOf(tree) - before <= cpuMs) return
    tell("timeout", `it used more than ${cpuMs} ms of processor time`)
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

const megabyte = 1024 * 1024
