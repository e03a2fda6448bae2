import { hostname } from "node:os"

/** Who writes a session. */
export interface WriterIdentity {
  host: string
  pid: number
  /** One for each opening of a session. */
  token: string
  /** Until when a run is under way there; renewed while it is, and 0 when none is. */
  until: number
}

const openTokens = new Set<string>()

/** How long a writer counts as alive that does not say so again. */
export const writerLeaseMs = 60_000

export function registerWriter(token: string): WriterIdentity {
  openTokens.add(token)
  return { host: hostname(), pid: process.pid, token, until: 0 }
}

export function unregisterWriter({ token }: WriterIdentity): void {
  openTokens.delete(token)
}

/** Whether a run is under way there, as far as can be told from here. */
export function isWriterBusy({ host, pid, token, until }: WriterIdentity): boolean {
  if (until < Date.now()) return false
  if (host !== hostname()) return true
  return pid === process.pid ? openTokens.has(token) : isProcessAlive(pid)
}

function isProcessAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Whose process it is may not be ours to signal; it is there all the same.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
