import { type Binding, boundValue, type VariableBinding } from "../bindings.ts"
import { bindAgent } from "./agent.ts"
import { type BoundFunction, bindFunction } from "./call.ts"
import { createFacade } from "./facade.ts"
import type { Shared } from "./running-cell.ts"

/** What cells get to see of what the host has bound: most things themselves, those that pass the gate a stand-in. */
export interface StandIns {
  /** The one for a name: of a function for life, so that a new target reaches those who kept it. */
  of(name: string, binding: Binding): unknown
  /** A new one, for a name that a cell made: what the host puts there passes the gate all the same. */
  make(name: string, binding: Binding): unknown
  /** Cells from before keep theirs, which lead nowhere now. */
  clear(): void
}

export function createStandIns(shared: Shared): StandIns {
  const functions = new Map<string, BoundFunction>()
  const objects = new Map<string, { value: unknown; guard: VariableBinding["guard"]; stand: unknown }>()

  const make = (name: string, binding: Binding): unknown => {
    switch (binding.kind) {
      case "function":
        return bindFunction(name, binding, shared).cellFunction
      case "agent":
        return bindAgent(name, binding.agent, shared)
      case "variable":
        return guarded(name, binding)
      case "type":
        return binding.type
    }
  }

  const guarded = (name: string, { value, guard }: VariableBinding): unknown => {
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function"
    return guard && isObject ? createFacade(name, value, guard, shared) : value
  }

  return {
    make,
    of(name, binding) {
      if (binding.kind === "function") {
        const bound = functions.get(name) ?? bindFunction(name, binding, shared)
        bound.target = binding
        functions.set(name, bound)
        return bound.cellFunction
      }
      const value = boundValue(binding)
      const guard = binding.kind === "variable" ? binding.guard : undefined
      if (!guard && binding.kind !== "agent") return value
      const known = objects.get(name)
      if (known && known.value === value && known.guard === guard) return known.stand
      const stand = make(name, binding)
      objects.set(name, { value, guard, stand })
      return stand
    },
    clear() {
      functions.clear()
      objects.clear()
    },
  }
}
