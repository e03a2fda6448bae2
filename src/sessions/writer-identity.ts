import { hostname } from "node:os"

/** Who writes a session. */
export interface Writer {
  host: string
  pid: number
  /** One for each opening of a session. */
  token: string
  /** Until when a run is under way there; renewed while it is, and 0 when none is. */
  until: number
}

const openHere = new Set<string>()

/** How long a writer counts as alive that does not say so again. */
export const leaseMs = 60_000

export function newWriter(token: string): Writer {
  openHere.add(token)
  return { host: hostname(), pid: process.pid, token, until: 0 }
}

export function forgetWriter({ token }: Writer): void {
  openHere.delete(token)
}

/** Whether a run is under way there, as far as can be told from here. */
export function isAtWork({ host, pid, token, until }: Writer): boolean {
  if (until < Date.now()) return false
  if (host !== hostname()) return true
  return pid === process.pid ? openHere.has(token) : isAlive(pid)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Whose process it is may not be ours to signal; it is there all the same.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
