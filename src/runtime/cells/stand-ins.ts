import type { Binding, VariableBinding } from "../bindings.ts"
import { createGuards } from "../guard.ts"
import { bindAgent } from "./agent.ts"
import { type BoundFunction, bindFunction } from "./call.ts"
import { createFacades } from "./facade.ts"
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
  const agents = new Map<string, { agent: unknown; stand: unknown }>()
  let { guards, facades } = createGuarding(shared)

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

  const guarded = (name: string, binding: VariableBinding): unknown => {
    const { value, guard } = binding
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function"
    if (!guard || !isObject) {
      facades.addBare(value)
      return value
    }
    guards.add(name, binding)
    shared.views = facades
    return facades.of(value)
  }

  return {
    make,
    of(name, binding) {
      if (binding.kind === "function") {
        const bound = functions.get(name) ?? bindFunction(name, binding, shared)
        bound.target = binding
        functions.set(name, bound)
        shared.onBound?.(binding.call, bound.cellFunction)
        return bound.cellFunction
      }
      if (binding.kind !== "agent") return make(name, binding)
      const known = agents.get(name)
      if (known?.agent === binding.agent) return known.stand
      const stand = make(name, binding)
      agents.set(name, { agent: binding.agent, stand })
      return stand
    },
    clear() {
      functions.clear()
      agents.clear()
      shared.views = undefined
      ;({ guards, facades } = createGuarding(shared))
    },
  }
}

function createGuarding(shared: Shared) {
  const guards = createGuards()
  return { guards, facades: createFacades(guards, shared) }
}
