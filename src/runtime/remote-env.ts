import { UnsupportedError } from "../core/errors.ts"
import type { CellEnv } from "./js/ambient/cell-env.ts"

/** The environment of a cell that runs in another process, as far as it can be sent there: its clock and its dice cannot ask
 *  the host at each look. */
export interface RemoteEnv {
  /** What the clock showed before. Absent: it is the real one. */
  times?: readonly number[] | undefined
  /** What chance is made from. Absent: it is the real one. */
  seed?: string | undefined
  /** Whether the host wants to hear by what the cell reaches past its bindings. */
  tellsEffects?: boolean | undefined
}

/** Throws an `UnsupportedError` for what cannot be sent to a runtime. */
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

/** Undefined where the cell's environment is the real one. */
export function toRemoteEnv({ clock, random, onEffect }: Partial<CellEnv> = {}): RemoteEnv | undefined {
  if (!clock && !random && !onEffect) return undefined
  return {
    ...(clock && { times: clock.recorded }),
    ...(random && { seed: [random(), random(), random()].join() }),
    ...(onEffect && { tellsEffects: true }),
  }
}

/** Takes what a cell in another process tells of its environment. It is believed in form only: so much, and no more. */
export function applyEnvUpdate(env: Partial<CellEnv>, reads: readonly number[], effects: readonly string[]): void {
  if (reads.length > 0) env.clock?.note(reads.slice(0, maxClockReads))
  for (const effect of effects.slice(0, maxEffects)) env.onEffect?.(effect.slice(0, maxEffectLength))
}

const maxClockReads = 1_000
const maxEffects = 10
const maxEffectLength = 100
