// Provides recorded time and randomness to the cells of durable runs, and reports new clock reads to the host.
import type { WireObject } from "../../handles/wire.ts"
import type { CellEnv } from "../../js/ambient/cell-env.ts"
import type { RemoteEnv } from "../../remote-env.ts"
import type { ExecuteInput } from "../child-protocol.ts"

export interface EnvUpdates {
  /** Returns the environment of an execution and tracks it until `endExecution`. */
  environmentFor(id: string, input: ExecuteInput): Partial<CellEnv> | undefined | Promise<Partial<CellEnv>>
  /** Sends new clock reads and unrecorded effects. Called before every other message, so that the host records them
   *  before the cell's next action. */
  flush(): void
  /** Sends the last updates of an execution and forgets it. */
  endExecution(id: string): void
}

export function createEnvUpdates(send: (message: WireObject) => void): EnvUpdates {
  const executions = new Map<string, { takeReads(): number[]; effects: Set<string>; sentEffects: number }>()

  const recordedEnvironment = async (
    id: string,
    variables: ExecuteInput["variables"],
    env: RemoteEnv,
  ): Promise<Partial<CellEnv>> => {
    const { times, seed, reportsEffects } = env
    // Imported here because only durable runs need it, and loading it takes time.
    const { createRecordedClock, createSeededRandom, unrecordedClockEffect } = await import("../../recorded-clock.ts")
    const effects = new Set<string>()
    const { now, takeReads } = createRecordedClock(times ?? [], () => effects.add(unrecordedClockEffect))
    executions.set(id, { takeReads, effects, sentEffects: 0 })
    return {
      ...(variables && { variables }),
      ...(times && { now }),
      ...(seed !== undefined && { random: createSeededRandom(seed) }),
      ...(reportsEffects && { onEffect: (what: string) => void effects.add(what) }),
    }
  }

  const flush = () => {
    for (const [id, execution] of executions) {
      const reads = execution.takeReads()
      const effects = [...execution.effects].slice(execution.sentEffects)
      execution.sentEffects = execution.effects.size
      if (reads.length > 0 || effects.length > 0) send({ k: "news", x: id, reads, effects })
    }
  }

  return {
    environmentFor: (id, { variables, env }) =>
      env ? recordedEnvironment(id, variables, env) : variables && { variables },
    flush,
    endExecution(id) {
      flush()
      executions.delete(id)
    },
  }
}
