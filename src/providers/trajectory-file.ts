import { errorData } from "../core/errors.ts"
import type { Trajectory } from "../core/trajectory.ts"
import { saveTrajectory } from "../sessions/session.ts"
import type { CliConversation } from "./cli-conversation.ts"

/** A file that has the trajectory of what is under way: whole at every moment, and not far behind. */
interface TrajectoryFile {
  /** Something was added. */
  scheduleWrite(): void
  /** Resolves when the file has it all, or with why it could not be written. */
  finish(): Promise<string | undefined>
}

// To write all of it takes longer the longer it is: most of the time goes to something else.
const pauseFactor = 20
const minimumPauseMs = 100

function createTrajectoryFile(path: string, told: () => Trajectory): TrajectoryFile {
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let problem: string | undefined
  let isBehind = false
  let pauseMs = 0

  async function write(): Promise<void> {
    if (!isBehind) return
    isBehind = false
    const started = performance.now()
    try {
      await saveTrajectory(path, told())
      problem = undefined
    } catch (error) {
      problem = `The trajectory could not be written to "${path}": ${errorData(error).message}.`
    }
    pauseMs = Math.max(minimumPauseMs, (performance.now() - started) * pauseFactor)
  }

  function writeNext(): Promise<unknown> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }

  return {
    scheduleWrite() {
      isBehind = true
      timer ??= setTimeout(() => void writeNext(), pauseMs).unref()
    },
    async finish() {
      await writeNext()
      return problem
    },
  }
}

/** Has a file follow a conversation, from here on. */
export function mirrorTrajectoryToFile(
  shared: Pick<CliConversation, "record" | "save" | "warnings">,
  path: string,
  told: () => Trajectory,
): void {
  const file = createTrajectoryFile(path, told)
  const { record, save: saved } = shared
  shared.record = (event) => {
    record(event)
    file.scheduleWrite()
  }
  shared.save = async (ended) => {
    await saved?.(ended)
    const problem = ended ? await file.finish() : undefined
    if (problem !== undefined) shared.warnings.push(problem)
  }
}
