import { isDeepStrictEqual } from "node:util"
import type { RunContext } from "../core/run-context.ts"
import type { McpCall } from "../mcp/mcp.ts"
import type { OpenCall } from "./voice.ts"

/** The run as what is done for a call of its CLI sees it: a run that is started there says for which call, in the metadata of its
 *  start, as the CLI's own agents do. */
export function contextOfCall(run: RunContext, callId: () => string | undefined): RunContext {
  // All else is the run's own, by then.
  const context: RunContext = Object.create(run)
  let known: string | undefined
  context.forward = (event) => {
    if (event.type !== "run-start" || event.parent !== run.id) return run.forward(event)
    known ??= callId()
    run.forward(known === undefined ? event : { ...event, metadata: { ...event.metadata, call: known } })
  }
  return context
}

/** Finds the CLI's own id of the call that has come to us: as it was sent, or that of the oldest open call of that name and input which
 *  no other was. */
export function callFinder(calls: ReadonlyMap<string, OpenCall>): (call: McpCall) => string | undefined {
  const taken = new Set<string>()
  return ({ tool, input, meta }) => {
    const sent = meta["claudecode/toolUseId"]
    if (typeof sent === "string") return sent
    const found = calls
      .entries()
      .find(([id, call]) => !taken.has(id) && call.name.endsWith(tool) && isDeepStrictEqual(call.input, input))
    if (found) taken.add(found[0])
    return found?.[0]
  }
}
