// The policy, events and context under which a client's call is made.
import { AsyncLocalStorage } from "node:async_hooks"
import type { Approver } from "../../actions/approval.ts"
import type { GateServices } from "../../actions/call.ts"
import { toHooks } from "../../actions/hooks.ts"
import type { CodeServices } from "../../actions/perform-code.ts"
import { createStopwatch, noCalls } from "../../actions/run-limits.ts"
import type { AgentEvent, Emit } from "../../core/event.ts"
import { newId } from "../../core/message.ts"
import { withoutUndefined } from "../../core/object.ts"
import { prepareEvent } from "../../core/prepare-event.ts"
import { insideRun } from "../../core/run-context.ts"
import { deepFreeze } from "../../core/values/freeze.ts"
import type { ToolContext } from "../../tools/tool.ts"
import { createToolState } from "../../tools/tool-state.ts"
import { memoryWorkspace } from "../../workspaces/memory.ts"
import type { McpCall, McpHost, ServeOptions } from "../mcp-types.ts"

/** Everything that one call is subject to. */
export interface CallHost {
  gate: GateServices
  emit: Emit
  signal: AbortSignal | undefined
  context: Pick<ToolContext, "workspace" | "state" | "messages">
  leftMs: CodeServices["leftMs"]
  cellEnv: CodeServices["cellEnv"]
  /** Runs work in the async context in which the server was opened. */
  within<T>(work: () => T): T
}

/** The approvals of a client's session. */
export interface ClientApprovals {
  /** Asks the person at the client; undefined if that is not possible. */
  approver: Approver | undefined
  /** The subjects of calls that the person has approved with "always". */
  approved: string[]
}

/** Creates a function that returns the host of each call. */
export function createCallHosts(options: ServeOptions): (call: McpCall, session: ClientApprovals) => CallHost {
  const { name, approver: approve, approvalTimeoutMs, limits = {}, host, workspace = memoryWorkspace() } = options
  const id = newId("mcp")
  const hooks = toHooks(options.hooks)
  const budgets = [{ ...limits, counts: noCalls() }]
  const context = { workspace, state: createToolState() }
  const emit = createEventStamper(id, options.onEvent)
  const serverContext = AsyncLocalStorage.snapshot()
  return (call, { approver, approved }) => {
    const {
      run,
      signal,
      within: givenContext,
      leftMs = () => undefined,
      cellEnv,
      ...given
    }: McpHost = host?.(call) ?? {}
    const { emit: emitEvent = emit, context: toolContext = context, ...gate } = given
    const within: NonNullable<McpHost["within"]> = givenContext ?? serverContext
    // A separate clock, which stops while a person decides.
    const stopwatch = createStopwatch()
    return {
      gate: {
        approver: approve === "client" ? approver : approve,
        approvalTimeoutMs,
        hooks,
        budgets,
        approved,
        askReaders: () => undefined,
        activeMs: stopwatch.activeMs,
        withClocksPaused: stopwatch.withClockPaused,
        pauseSignal: stopwatch.pauseSignal,
        caller: { run: id, agent: name, metadata: {} },
        ...withoutUndefined(gate),
      },
      emit: emitEvent,
      signal,
      context: toolContext,
      leftMs,
      cellEnv,
      within: (work) => within(() => (run ? insideRun(run, work) : work())),
    }
  }
}

function createEventStamper(run: string, onEvent: ((event: AgentEvent) => unknown) | undefined): Emit {
  if (!onEvent) return () => {}
  let seq = 0
  return (body) => {
    // Errors of the observer are ignored.
    const event = deepFreeze({ ...prepareEvent(body), run, seq: seq++, at: Date.now() })
    void (async () => onEvent(event))().catch(() => undefined)
  }
}
