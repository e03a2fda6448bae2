import { readdirSync, readFileSync } from "node:fs"

export interface Watched {
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
export function watchUse({ pid, memoryMb, processes, cpuMs, everyMs = 50 }: Watched, tell: OnExceeded): () => void {
  const before = cpuMs === undefined ? 0 : useOf(processTree(pid, processes)).cpuMs
  const timer = setInterval(() => {
    // No more are looked at than there may be: a flood of them leaves little time to look.
    const tree = processTree(pid, processes + 1)
    if (tree.length > processes) return tell("memory", `it started more than ${processes} processes`)
    const use = useOf(tree)
    if (use.mb > memoryMb && exactMb(tree) > memoryMb) {
      return tell("memory", `it took ${Math.round(use.mb)} MB, and may take ${memoryMb} MB`)
    }
    if (cpuMs === undefined || use.cpuMs - before <= cpuMs) return
    tell("timeout", `it used more than ${cpuMs} ms of processor time`)
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

// Linux counts processor time in hundredths of a second on every machine that Node runs on.
const tickMs = 10

/** A process and all below it, each before its children; `most` of them. */
export function processTree(pid: number, most: number): number[] {
  const found: number[] = []
  const next = [pid]
  while (next.length > 0 && found.length < most) {
    const each = next.pop() ?? 0
    found.push(each)
    next.push(...childrenOf(each).reverse())
  }
  return found
}

function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"))
    return lists.join(" ").split(" ").filter(Boolean).map(Number)
  } catch {
    // A process may end while it is looked at; elsewhere than on Linux there is nothing to look at.
    return []
  }
}

function useOf(tree: readonly number[]): { mb: number; cpuMs: number } {
  const total = { mb: 0, cpuMs: 0 }
  for (const pid of tree) {
    total.mb += residentMb(pid)
    total.cpuMs += cpuMsOf(pid)
  }
  return total
}

function residentMb(pid: number): number {
  return megabytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB$/m) ?? 0
}

/** Counts what processes share only once, which takes longer. */
function exactMb(tree: readonly number[]): number {
  const share = (pid: number) => megabytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB$/m) ?? residentMb(pid)
  return tree.reduce((total, pid) => total + share(pid), 0)
}

function megabytes(file: string, pattern: RegExp): number | undefined {
  const [, kilobytes] = pattern.exec(read(file)) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

function cpuMsOf(pid: number): number {
  // The name, in parentheses, may hold anything.
  const fields = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * tickMs
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1")
  } catch {
    return ""
  }
}
