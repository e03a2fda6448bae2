// The end of child processes: whether one has ended, ending it with its group, and ending all when this program exits.
import type { ChildProcess } from "node:child_process"

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Resolves when the child has exited, or could not be started. */
export async function waitForExit(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  await new Promise<void>((resolve) => {
    child.once("exit", () => resolve())
    child.once("error", () => child.pid === undefined && resolve())
  })
}

/** Signals the process group of a child that was started with `detached`, so that the processes it started end too. */
export function killGroup(child: ChildProcess | undefined, signal: NodeJS.Signals = "SIGKILL"): void {
  if (child?.pid === undefined) return
  try {
    if (process.platform === "win32") child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // No process is left in the group.
  }
}

/** Calls `work` when this program exits. Returns a function that cancels this. */
export function onProgramExit(work: () => void): () => void {
  if (exitHandlers.size === 0) process.on("exit", runExitHandlers)
  exitHandlers.add(work)
  return () => {
    exitHandlers.delete(work)
    if (exitHandlers.size === 0) process.off("exit", runExitHandlers)
  }
}

const exitHandlers = new Set<() => void>()

function runExitHandlers(): void {
  for (const work of [...exitHandlers]) {
    try {
      work()
    } catch {
      // The other handlers must run too.
    }
  }
}
