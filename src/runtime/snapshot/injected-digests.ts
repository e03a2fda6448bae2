// The digests of injected data from before any cell could change it. Snapshots contain them, so that a restore can tell
// whether cells changed the data, and whether the program has other data now.
import type { Binding } from "../bindings.ts"
import { digestOf } from "./data-digest.ts"

export interface InjectedDigests {
  /** From now on, `addMissing` computes digests. */
  track(): void
  readonly isTracking: boolean
  /** Called before a cell runs and before `update`: computes the digests of values that have none yet. */
  addMissing(bindings: ReadonlyMap<string, Binding>): void
  /** Undefined for a value that is not plain data. */
  get(name: string): string | undefined
  set(name: string, digest: string | undefined): void
  /** Called when the program injects the name again. A value of `update` counts as a change of the injected one. */
  remove(name: string): void
}

export function createInjectedDigests(): InjectedDigests {
  const digests = new Map<string, string | undefined>()
  let isTracking = false
  return {
    track() {
      isTracking = true
    },
    get isTracking() {
      return isTracking
    },
    addMissing(bindings) {
      if (!isTracking) return
      for (const [name, binding] of bindings) {
        if (binding.kind === "variable" && !digests.has(name)) digests.set(name, digestOf(binding.value))
      }
    },
    get: (name) => digests.get(name),
    set: (name, digest) => void digests.set(name, digest),
    remove: (name) => void digests.delete(name),
  }
}
