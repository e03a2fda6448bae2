import { readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { newId } from "../../core/message.ts"

/** Who holds a run. */
export interface Owner {
  id: string
  /** Where its process number means something. */
  host: string
  pid: number
}

export function createOwner(): Owner {
  return { id: newId("worker"), host: thisHost(), pid: process.pid }
}

/** Whether an owner is surely gone: its process was on this machine and is no more. Of others only their lease tells. */
export function isOwnerGone({ host, pid }: Owner): boolean {
  if (host !== thisHost() || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}

let cachedHost: string | undefined

// Two containers may have one name and their own process numbers.
function thisHost(): string {
  cachedHost ??= `${hostname()} ${pidNamespace()}`
  return cachedHost
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}
