// Finds processes: whether one exists, and through /proc its descendants or all processes of the system.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { attempt } from "../attempt.ts"

/** Returns a process and its descendants, at most `most`, each before its children. In a sandbox with its own process
 *  ids these are all its processes: an orphan becomes a child of the first process. Elsewhere orphans are not found. */
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
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1"))
    return lists.join(" ").split(" ").filter(Boolean).map(Number)
  } catch {
    // The process has ended, or this is not Linux.
    return []
  }
}

export interface ProcessInfo {
  id: number
  name: string
  parent: number
  group: number
  session: number
}

/** Lists every process except this one and zombies. Undefined if the system has no /proc. */
export function listProcesses(): ProcessInfo[] | undefined {
  if (!existsSync("/proc/self/stat")) return undefined
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return ids.map(Number).flatMap((id) => {
    if (id === process.pid) return []
    const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)/s.exec(readProcFile(`/proc/${id}/stat`)) ?? []
    const [state = "Z", parent, group, session] = rest.split(" ")
    if (rest === "" || state === "Z" || state === "X") return []
    return [{ id, name, parent: Number(parent), group: Number(group), session: Number(session) }]
  })
}

/** Returns true if the process exists, also if it belongs to another user. */
export function isProcessAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH")
  }
}

/** Resolves when none of the processes exists any more, or after two seconds. */
export async function waitUntilGone(pids: readonly number[]): Promise<void> {
  for (let round = 0; round < 200 && pids.some((pid) => existsSync(`/proc/${pid}`)); round++) await delay(10)
}

/** Reads a file of /proc. Returns "" if the process has ended or belongs to another user. */
export function readProcFile(file: string): string {
  return attempt(() => readFileSync(file, "latin1")) ?? ""
}
