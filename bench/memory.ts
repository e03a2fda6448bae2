// Measures the memory of this process, for the benchmarks.
import { readdirSync, readFileSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** MB that this process's heap and buffers hold after collecting garbage. */
export async function heldMegabytes(): Promise<number> {
  // A bench is started without flags, so the collector is asked for at run time.
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  // What finalisers let go is garbage only for the next round.
  for (let round = 0; round < 4; round++) {
    collect()
    await setImmediate()
  }
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

/** MB that the child processes of this one occupy, and theirs; 0 where there is no /proc to look it up. */
export function childrenMegabytes(): number {
  const parents = new Map<number, number>()
  for (const id of processIds()) {
    const parent = field(id, "PPid")
    if (parent > 0) parents.set(id, parent)
  }
  const isOurs = (id: number | undefined): boolean =>
    id !== undefined && (id === process.pid || isOurs(parents.get(id)))
  const children = [...parents.keys()].filter((id) => id !== process.pid && isOurs(id))
  return children.reduce((sum, id) => sum + field(id, "VmRSS"), 0) / 1024
}

function processIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

// A process may end while it is looked at.
function field(id: number, name: string): number {
  try {
    const text = readFileSync(`/proc/${id}/status`, "utf8")
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0)
  } catch {
    return 0
  }
}
