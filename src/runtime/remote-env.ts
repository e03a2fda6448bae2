// The environment of a cell that runs in another process, which cannot ask the host at each read of the clock or a
// random number: it is sent before the cell, and the child reports what it used.
import { UnsupportedError } from "../core/errors.ts"
import type { CellEnv } from "./js/ambient/cell-env.ts"
import { maxRecordedReads } from "./recorded-clock.ts"

/** The sent part of a cell's environment. */
export interface RemoteEnv {
  /** Recorded clock values to replay. Absent: the child uses its real clock. */
  times?: readonly number[] | undefined
  /** Seed of the random numbers. Absent: the child uses real randomness. */
  seed?: string | undefined
  /** Whether the child reports how the cell reaches outside its bindings. */
  reportsEffects?: boolean | undefined
}

/** Throws an `UnsupportedError` for a part of the environment that cannot be sent to this runtime. */
export function refuseUnsupportedEnv(
  runtime: string,
  env: Partial<CellEnv> = {},
  without: readonly (keyof CellEnv)[],
): void {
  for (const part of without) {
    if (env[part] === undefined) continue
    throw new UnsupportedError(
      `env.${part} cannot be given to a ${runtime}, whose cells have their own. Leave it out, or use jsRuntime.`,
    )
  }
  if (!env.now || env.clock) return
  throw new UnsupportedError(
    `env.now cannot be asked from a ${runtime}, which is another process. Give env.clock with it, or use jsRuntime.`,
  )
}

/** Undefined if the cell uses the real environment. */
export function toRemoteEnv({ clock, random, onEffect }: Partial<CellEnv> = {}): RemoteEnv | undefined {
  if (!clock && !random && !onEffect) return undefined
  return {
    ...(clock && { times: clock.recorded }),
    ...(random && { seed: [random(), random(), random()].join() }),
    ...(onEffect && { reportsEffects: true }),
  }
}

/** Passes on what the child reports about a cell's environment, with limits, because the child is not trusted. */
export function applyEnvUpdate(env: Partial<CellEnv>, reads: readonly number[], effects: readonly string[]): void {
  if (reads.length > 0) env.clock?.note(reads.slice(0, maxRecordedReads))
  for (const effect of effects.slice(0, maxEffects)) env.onEffect?.(effect.slice(0, maxEffectLength))
}

const maxEffects = 10
const maxEffectLength = 100
