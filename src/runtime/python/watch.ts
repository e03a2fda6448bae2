import { readdirSync, readFileSync } from "node:fs"

export interface Watched {
  pid: number
  memoryMb: number
  cpuMs?: number | undefined
}

/** Looks at what a process and its children use while a cell runs, and tells when it is too much. Gives the end of it. */
export function watchUse(watched: Watched, onMemory: (mb: number) => void, onCpu: (ms: number) => void): () => void {
  const { pid, memoryMb, cpuMs } = watched
  const before = cpuMs === undefined ? 0 : useOfTree(pid).cpuMs
  const timer = setInterval(() => {
    const use = useOfTree(pid)
    if (use.mb > memoryMb) onMemory(Math.round(use.mb))
    else if (cpuMs !== undefined && use.cpuMs - before > cpuMs) onCpu(cpuMs)
  }, interval)
  timer.unref()
  return () => clearInterval(timer)
}

const interval = 50
// Linux counts processor time in hundredths of a second on every machine that Node runs on.
const tickMs = 10

function useOfTree(pid: number): { mb: number; cpuMs: number } {
  const use = processTree(pid).map(useOf)
  const sum = (of: "mb" | "cpuMs") => use.reduce((total, each) => total + each[of], 0)
  return { mb: sum("mb"), cpuMs: sum("cpuMs") }
}

/** A process and all below it, each before its children. */
export function processTree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)]
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

function useOf(pid: number): { mb: number; cpuMs: number } {
  try {
    const [, kilobytes = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    // The name, in parentheses, may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
    return { mb: Number(kilobytes) / 1024, cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs }
  } catch {
    return { mb: 0, cpuMs: 0 }
  }
}
