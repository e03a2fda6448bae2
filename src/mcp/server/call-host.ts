import { AsyncLocalStorage } from "node:async_hooks"
import type { Approver } from "../../actions/approval.ts"
import type { GateServices } from "../../actions/call.ts"
import { toHooks } from "../../actions/hooks.ts"
import type { CodeServices } from "../../actions/perform-code.ts"
import { createStopwatch, noCalls } from "../../actions/run-limits.ts"
import type { AgentEvent, Emit } from "../../core/event.ts"
import { newId } from "../../core/message.ts"
import { prepareEvent } from "../../core/prepare-event.ts"
import { insideRun } from "../../core/run-context.ts"
import { deepFreeze } from "../../core/values/freeze.ts"
import type { ToolContext } from "../../tools/tool.ts"
import { createToolState } from "../../tools/tool-state.ts"
import { memoryWorkspace } from "../../workspaces/memory.ts"
import type { McpCall, McpHost, ServeOptions } from "../mcp-types.ts"

/** What one call is held to, complete. */
export interface CallHost {
  gate: GateServices
  emit: Emit
  signal: AbortSignal | undefined
  context: Pick<ToolContext, "workspace" | "state" | "messages">
  leftMs: CodeServices["leftMs"]
  cellEnv: CodeServices["cellEnv"]
  /** Does its work where the server was opened: in the cell or run that did, if one did. */
  within<T>(work: () => T): T
}

/** The session of a client, as far as a call needs it. */
export interface ClientApprovals {
  /** Asks the person at the client; undefined where that is not possible. */
  approver: Approver | undefined
  /** The subjects that this client's person has approved for always. */
  approved: string[]
}

/** Who the calls of a server are made for. */
export function createCallHosts(options: ServeOptions): (call: McpCall, session: ClientApprovals) => CallHost {
  const { name, approver: approve, approvalTimeoutMs, limits = {}, host, workspace = memoryWorkspace() } = options
  const id = newId("mcp")
  const hooks = toHooks(options.hooks)
  const budgets = [{ ...limits, counts: noCalls() }]
  const context = { workspace, state: createToolState() }
  const emit = createEventStamper(id, options.onEvent)
  const opened = AsyncLocalStorage.snapshot()
  return (call, { approver, approved }) => {
    const { run, signal, within: place, leftMs = () => undefined, cellEnv, ...given }: McpHost = host?.(call) ?? {}
    const { emit: tell = emit, context: ground = context, ...gate } = given
    const within: NonNullable<McpHost["within"]> = place ?? opened
    // Its own clock, which stands still while a person thinks.
    const watch = createStopwatch()
    return {
      gate: {
        approver: approve === "client" ? approver : approve,
        approvalTimeoutMs,
        hooks,
        budgets,
        approved,
        watcher: () => undefined,
        now: Date.now,
        paused: watch.paused,
        pauses: watch.pauses,
        caller: { run: id, agent: name },
        ...withoutUndefined(gate),
      },
      emit: tell,
      signal,
      context: ground,
      leftMs,
      cellEnv,
      within: (work) => within(() => (run ? insideRun(run, work) : work())),
    }
  }
}

// What is undefined is as it would be without a host.
function withoutUndefined(given: Partial<GateServices>): Partial<GateServices> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function createEventStamper(run: string, onEvent: ((event: AgentEvent) => unknown) | undefined): Emit {
  if (!onEvent) return () => {}
  let seq = 0
  return (body) => {
    // Who watches can break nothing.
    const event = deepFreeze({ ...prepareEvent(body), run, seq: seq++, at: Date.now() })
    void (async () => onEvent(event))().catch(() => undefined)
  }
}
