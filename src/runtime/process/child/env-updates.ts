import type { WireObject } from "../../handles/wire.ts"
import type { CellEnv } from "../../js/ambient/cell-env.ts"
import type { RemoteEnv } from "../../remote-env.ts"
import type { ExecuteInput } from "../child-protocol.ts"

/** In a child: the recorded time and randomness of executions in durable runs, and what the host must be told of
 *  them. */
export interface EnvUpdates {
  /** The environment of an execution, until it is forgotten. */
  environmentFor(id: string, input: ExecuteInput): Partial<CellEnv> | undefined | Promise<Partial<CellEnv>>
  /** Sends what is new: times that were read, and effects that are not recorded. Called before every other message,
   *  so that the host knows it before what the cell does next. */
  flush(): void
  endExecution(id: string): void
}

export function createEnvUpdates(send: (message: WireObject) => void): EnvUpdates {
  const executions = new Map<string, { takeReads(): number[]; effects: Set<string>; told: number }>()

  const recorded = async (
    id: string,
    variables: ExecuteInput["variables"],
    env: RemoteEnv,
  ): Promise<Partial<CellEnv>> => {
    const { times, seed, tellsEffects } = env
    // Imported here because only durable runs need it, and loading it takes time.
    const {
      createSeededRandom: randomFrom,
      createRecordedClock: recordedClock,
      unrecordedClockEffect: unrecordedClock,
    } = await import("../../recorded-clock.ts")
    const effects = new Set<string>()
    const { now, takeReads } = recordedClock(times ?? [], () => effects.add(unrecordedClock))
    executions.set(id, { takeReads, effects, told: 0 })
    return {
      ...(variables && { variables }),
      ...(times && { now }),
      ...(seed !== undefined && { random: randomFrom(seed) }),
      ...(tellsEffects && { onEffect: (what: string) => void effects.add(what) }),
    }
  }

  const tell = () => {
    for (const [id, execution] of executions) {
      const reads = execution.takeReads()
      const effects = [...execution.effects].slice(execution.told)
      execution.told = execution.effects.size
      if (reads.length > 0 || effects.length > 0) send({ k: "news", x: id, reads, effects })
    }
  }

  return {
    environmentFor: (id, { variables, env }) => (env ? recorded(id, variables, env) : variables && { variables }),
    flush: tell,
    endExecution(id) {
      tell()
      executions.delete(id)
    },
  }
}
