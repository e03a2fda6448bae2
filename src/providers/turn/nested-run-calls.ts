// Adds to each nested run the id of the CLI's tool call that started it.
import { isDeepStrictEqual } from "node:util"
import type { AgentEvent } from "../../core/event.ts"
import type { RunContext } from "../../core/run-context.ts"
import type { McpCall } from "../../mcp/mcp-types.ts"
import { karstServerName, toolOfServer } from "../serve-tools.ts"
import type { OpenCall } from "./run-narrator.ts"

/** How long the events of a nested run wait for the CLI to report the call that started it. */
const maxWaitMs = 1000

/** Adds the call id to the `run-start` event of each run started with this context. The call may reach us before the
 *  CLI reports it, because they use different channels. Until the call id is known, events are held back, but never
 *  longer than `maxWaitMs`, nor after the nested run needs an answer or has ended. */
export function createCallContext(run: RunContext, findCallId: () => string | undefined): RunContext {
  const context: RunContext = Object.create(run)
  let callId: string | undefined
  let waiting: AgentEvent[] | undefined
  let timer: NodeJS.Timeout | undefined

  function release(): void {
    clearTimeout(timer)
    const events = waiting ?? []
    waiting = undefined
    for (const event of events) run.forward(withCallId(event))
  }

  function withCallId(event: AgentEvent): AgentEvent {
    if (event.type !== "run-start" || event.parent !== run.id || callId === undefined) return event
    return { ...event, metadata: { ...event.metadata, call: callId } }
  }

  context.forward = (event) => {
    const isStart = event.type === "run-start" && event.parent === run.id
    if (isStart || waiting) callId ??= findCallId()
    if (isStart && callId === undefined && !waiting) {
      waiting = []
      // `setImmediate` lets the event loop read pending output first, which may contain the call id.
      timer = setTimeout(
        () =>
          setImmediate(() => {
            callId ??= findCallId()
            release()
          }),
        maxWaitMs,
      )
    }
    if (!waiting) return run.forward(withCallId(event))
    waiting.push(event)
    if (callId !== undefined || cannotWait(event, run.id)) release()
  }
  return context
}

function cannotWait(event: AgentEvent, parent: string): boolean {
  if (event.type === "run-end") return event.parent === parent
  return event.type === "approval-requested" || event.type === "question-asked"
}

/** Uses the id sent with the call. Otherwise uses the oldest open call with equal name and input that is not yet
 *  matched. */
export function createCallFinder(calls: ReadonlyMap<string, OpenCall>): (call: McpCall) => string | undefined {
  const matchedIds = new Set<string>()
  return ({ tool, input, meta }) => {
    const sent = meta["claudecode/toolUseId"]
    if (typeof sent === "string") return sent
    const isSameTool = ({ name }: OpenCall) => name === tool || toolOfServer(name, karstServerName) === tool
    const found = calls
      .entries()
      .find(([id, call]) => !matchedIds.has(id) && isSameTool(call) && isDeepStrictEqual(call.input, input))
    if (found) matchedIds.add(found[0])
    return found?.[0]
  }
}
