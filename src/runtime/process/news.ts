import type { CellEnv } from "../cells/cell-env.ts"
import type { WireObject } from "../handles/wire.ts"
import type { SentEnv } from "../sent-env.ts"
import type { ExecuteInput } from "./protocol.ts"

/** In a child: the time and the chance of executions for which they are recorded, and what the host has to hear of that. */
export interface News {
  /** The environment of an execution, until it is forgotten. */
  environment(id: string, input: ExecuteInput): Partial<CellEnv> | undefined | Promise<Partial<CellEnv>>
  /** Tells what is new. The host must know it before anything that the cell does because of it. */
  tell(): void
  forget(id: string): void
}

export function createNews(send: (message: WireObject) => void): News {
  const executions = new Map<string, { takeReads(): number[]; effects: Set<string>; told: number }>()

  const recorded = async (
    id: string,
    variables: ExecuteInput["variables"],
    env: SentEnv,
  ): Promise<Partial<CellEnv>> => {
    const { times, seed, tellsEffects } = env
    // Only durable runs need it, and what it needs takes its time to load.
    const { randomFrom, recordedClock, unrecordedClock } = await import("../cells/recorded-world.ts")
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
    environment: (id, { variables, env }) => (env ? recorded(id, variables, env) : variables && { variables }),
    tell,
    forget(id) {
      tell()
      executions.delete(id)
    },
  }
}
