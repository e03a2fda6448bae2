// What cells get for each binding: most values themselves; functions, agents and guarded objects as proxies that pass
// the call gate.
import { isObject } from "../../../core/object.ts"
import { createCellAgent } from "../../bindings/cell-agent.ts"
import { createMethodGuards } from "../../bindings/method-guards.ts"
import type { Binding, VariableBinding } from "../../bindings.ts"
import type { SharedCellState } from "../running-cell.ts"
import { type BoundCellFunction, bindFunction, callFromCell, registerObjectProxy } from "./function-proxy.ts"
import { createGuardedProxies } from "./guarded-proxies.ts"

export function createBindingProxies(shared: SharedCellState) {
  const functions = new Map<string, BoundCellFunction>()
  const agents = new Map<string, { agent: unknown; proxy: unknown }>()
  let { guards, guardedProxies } = createGuardState(shared)

  /** A new value for a name that a cell declared and the host updates; it passes the gate as well. */
  const create = (name: string, binding: Binding): unknown => {
    switch (binding.kind) {
      case "function":
        return bindFunction(name, binding, shared).cellFunction
      case "agent":
        return createAgentProxy(name, binding.agent, shared)
      case "variable":
        return bindVariable(name, binding)
      case "type":
        return binding.type
    }
  }

  const bindVariable = (name: string, binding: VariableBinding): unknown => {
    const { value, guard } = binding
    if (!guard || !isObject(value)) {
      guardedProxies.markUnwrapped(value)
      return value
    }
    guards.add(name, binding)
    shared.guardedValues = guardedProxies
    return guardedProxies.proxyOf(value)
  }

  return {
    create,
    /** The value for a name. A function has one proxy for life, so that a new target reaches cells that stored it. */
    get(name: string, binding: Binding): unknown {
      if (binding.kind === "function") {
        const bound = functions.get(name) ?? bindFunction(name, binding, shared)
        bound.target = binding
        functions.set(name, bound)
        shared.onFunctionBound?.(binding.call, bound.cellFunction)
        return bound.cellFunction
      }
      if (binding.kind !== "agent") return create(name, binding)
      const known = agents.get(name)
      if (known?.agent === binding.agent) return known.proxy
      const proxy = create(name, binding)
      agents.set(name, { agent: binding.agent, proxy })
      return proxy
    },
    /** Drops all proxies. Earlier cells may still hold some; calls of those throw. */
    clear(): void {
      functions.clear()
      agents.clear()
      shared.guardedValues = undefined
      ;({ guards, guardedProxies } = createGuardState(shared))
    },
  }
}

function createGuardState(shared: SharedCellState) {
  const guards = createMethodGuards()
  return { guards, guardedProxies: createGuardedProxies(guards, shared) }
}

// The agent's runs record their own calls.
const options = { journal: false }

function createAgentProxy(name: string, agent: object, shared: SharedCellState): object {
  const { epoch } = shared
  const view = createCellAgent(agent, (method, call) => {
    const member = (...args: unknown[]) => {
      if (shared.epoch !== epoch) throw new Error(`${name}.${method} was not called: its runtime was reset or closed.`)
      return callFromCell({ binding: name, method, options, make: (finalArgs) => call(...finalArgs) }, args, shared)
    }
    return Object.defineProperty(member, "name", { value: method.slice(method.lastIndexOf(".") + 1) })
  })
  registerObjectProxy(view, agent, shared)
  return view
}
