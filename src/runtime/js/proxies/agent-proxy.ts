import { createCellAgent } from "../../bindings/cell-agent.ts"
import type { SharedCellState } from "../running-cell.ts"
import { callFromCell, registerObjectProxy } from "./function-proxy.ts"

// What its runs do is recorded call by call, not as one call.
const options = { journal: false }

/** An agent as the cells of a runtime see it: what they ask of it passes the gate of the cell that asks. */
export function createAgentProxy(name: string, agent: object, shared: SharedCellState): object {
  const { epoch } = shared
  const shown = createCellAgent(agent, (method, call) => {
    const member = (...args: unknown[]) => {
      if (shared.epoch !== epoch) throw new Error(`${name}.${method} was not called: its runtime was reset or closed.`)
      return callFromCell({ binding: name, method, options, make: (made) => call(...made) }, args, shared)
    }
    return Object.defineProperty(member, "name", { value: method.slice(method.lastIndexOf(".") + 1) })
  })
  registerObjectProxy(shown, agent, shared)
  return shown
}
