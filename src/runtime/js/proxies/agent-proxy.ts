// The proxy of an injected agent in cells: its calls pass the gate of the calling cell.
import { createCellAgent } from "../../bindings/cell-agent.ts"
import type { SharedCellState } from "../running-cell.ts"
import { callFromCell, registerObjectProxy } from "./function-proxy.ts"

// The agent's runs record their own calls.
const options = { journal: false }

export function createAgentProxy(name: string, agent: object, shared: SharedCellState): object {
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
