// Keeps a file up to date with the trajectory of a running conversation.
import { errorData } from "../core/errors.ts"
import { serialQueue } from "../core/serial.ts"
import type { Trajectory } from "../core/trajectory.ts"
import { saveTrajectory } from "../sessions/session.ts"
import type { CliConversation } from "./cli-conversation.ts"

// Long trajectories take long to write: the pause is a multiple of the last write's duration.
const pauseFactor = 20
const minimumPauseMs = 100

function createTrajectoryFile(path: string, read: () => Trajectory) {
  let timer: NodeJS.Timeout | undefined
  const writes = serialQueue()
  let problem: string | undefined
  let isOutdated = false
  let pauseMs = 0

  async function write(): Promise<void> {
    if (!isOutdated) return
    isOutdated = false
    const started = performance.now()
    try {
      await saveTrajectory(path, read())
      problem = undefined
    } catch (error) {
      problem = `The trajectory could not be written to "${path}": ${errorData(error).message}.`
    }
    pauseMs = Math.max(minimumPauseMs, (performance.now() - started) * pauseFactor)
  }

  function writeNext(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    return writes(write)
  }

  return {
    /** Schedules a write; each write replaces the whole file. */
    scheduleWrite(): void {
      isOutdated = true
      timer ??= setTimeout(() => void writeNext(), pauseMs).unref()
    },
    /** Writes the final state. Resolves with the problem if the file could not be written. */
    async finish(): Promise<string | undefined> {
      await writeNext()
      return problem
    },
  }
}

/** Writes the trajectory to a file after each event of the conversation, and finally when a run is saved at its end. */
export function mirrorTrajectoryToFile(
  conversation: Pick<CliConversation, "record" | "save" | "warnings">,
  path: string,
  read: () => Trajectory,
): void {
  const file = createTrajectoryFile(path, read)
  const { record, save } = conversation
  conversation.record = (event) => {
    record(event)
    file.scheduleWrite()
  }
  conversation.save = async (ended) => {
    await save?.(ended)
    const problem = ended ? await file.finish() : undefined
    if (problem !== undefined) conversation.warnings.push(problem)
  }
}
