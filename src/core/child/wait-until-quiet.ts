// Waits until a process that has exited, or whose pipes others hold open, writes no more output.
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises"

export interface QuietOptions {
  /** Returns a number that changes with each chunk of output. */
  progress(): number
  /** Output counts as finished if nothing arrives in this time. */
  quietMs: number
  maxMs: number
  /** Returns true while a chunk is being handled. Default: never. */
  isBusy?(): boolean
}

/** Resolves when no output arrived for `quietMs`, or after `maxMs`. */
export async function waitUntilQuiet({ progress, quietMs, maxMs, isBusy }: QuietOptions): Promise<void> {
  for (let waited = 0; waited < maxMs; waited += quietMs) {
    const before = progress()
    await delay(quietMs)
    // If this process was busy, output that arrived in the meantime is read only now.
    await nextTurn()
    if (progress() === before && !isBusy?.()) return
  }
}
