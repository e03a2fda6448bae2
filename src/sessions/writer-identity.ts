// Identifies the process that writes a session, and checks whether it is still at work.
import { hostname } from "node:os"
import { isProcessAlive } from "../core/child/process-tree.ts"

export interface WriterIdentity {
  host: string
  pid: number
  /** Unique for each opening of a session. */
  token: string
  /** The end of the lease of its run: renewed while a run is under way, 0 if none is. */
  until: number
}

const openTokens = new Set<string>()

/** How long a writer counts as alive without a renewal. */
export const writerLeaseMs = 60_000

export function registerWriter(token: string): WriterIdentity {
  openTokens.add(token)
  return { host: hostname(), pid: process.pid, token, until: 0 }
}

export function unregisterWriter({ token }: WriterIdentity): void {
  openTokens.delete(token)
}

/** Returns true if the writer has a run under way, as far as this process can tell. */
export function isWriterBusy({ host, pid, token, until }: WriterIdentity): boolean {
  if (until < Date.now()) return false
  if (host !== hostname()) return true
  return pid === process.pid ? openTokens.has(token) : isProcessAlive(pid)
}
