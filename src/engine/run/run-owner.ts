// Identifies the process that owns a run, and checks whether it still exists.
import { readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { attempt } from "../../core/attempt.ts"
import { isProcessAlive } from "../../core/child/process-tree.ts"
import { newId } from "../../core/message.ts"

/** The process that has a run. */
export interface Owner {
  id: string
  /** The machine, or the container, in which `pid` is valid. */
  host: string
  pid: number
}

export function createOwner(): Owner {
  return { id: newId("worker"), host: thisHost(), pid: process.pid }
}

/** Returns true if the owner's process was on this machine and no longer exists. Owners elsewhere are judged by their
 *  lease. */
export function isOwnerGone({ host, pid }: Owner): boolean {
  return host === thisHost() && !isProcessAlive(pid)
}

let cachedHost: string | undefined

// Two containers may have the same host name but separate process ids.
function thisHost(): string {
  cachedHost ??= `${hostname()} ${attempt(() => readlinkSync("/proc/self/ns/pid")) ?? ""}`
  return cachedHost
}
