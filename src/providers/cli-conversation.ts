// The state that the runs of one conversation with a coding CLI share: messages, events, runtime and served tools.
import { type AgentEvent, isDelta } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../core/trajectory.ts"
import { deepFreeze } from "../core/values/freeze.ts"
import type { McpCall, McpHost } from "../mcp/mcp-types.ts"
import { openRuntime, runtimeContext } from "../runtime/open-runtime.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { RuntimeContext } from "../runtime/typed-runtime.ts"
import type { CliConfig } from "./options.ts"
import type { CliServer, Provider, ProviderSession } from "./provider.ts"
import { type ServedTools, serveTools } from "./serve-tools.ts"

export interface CliConversation {
  /** The name of the CLI. */
  readonly provider: string
  /** The id of the session that it belongs to. */
  readonly sessionId: string | undefined
  readonly session: ProviderSession
  readonly events: readonly AgentEvent[]
  readonly messages: readonly Message[]
  readonly runtime: Runtime | undefined
  readonly ownsRuntime: boolean
  /** Calls approved for the whole conversation. */
  readonly approved: string[]
  /** Warnings already raised that are not repeated. */
  readonly warnedOnce: Set<string>
  /** Warnings for the next run to raise. */
  readonly warnings: string[]
  /** Steering messages that came too late, or for a CLI that cannot take them during a turn; sent with the next prompt.
   *  */
  readonly pendingSteering: string[]
  /** The system instructions last recorded in a `run-start` event. */
  system: string | undefined
  record(event: AgentEvent): void
  /** Stores new events; at the end of a run also metadata and snapshot. Undefined if nothing is archived. */
  save?: ((ended: boolean) => Promise<void>) | undefined
  /** Starts the MCP server of tools and runtime if needed, routes its calls to `host`, and returns all servers of the
   *  turn. */
  serveTurn(config: CliConfig, host: (call: McpCall) => McpHost): Promise<CliServer[]>
  /** Stops the MCP server and any process of the CLI; the next run starts them again. The runtime stays. */
  closeBetweenRuns(): Promise<void>
  close(): Promise<void>
}

export interface ConversationStart {
  key?: string | undefined
  fork?: boolean | undefined
  /** The messages and events so far. */
  messages?: readonly Message[] | undefined
  events?: readonly AgentEvent[] | undefined
  approved?: readonly string[] | undefined
  system?: string | undefined
  /** The runtime of the conversation that this one continues, used instead of the one in the options. */
  runtime?: Runtime | undefined
  /** What the runtime factory receives. Default: a run outside of sessions. */
  context?: RuntimeContext | undefined
}

export async function createCliConversation(
  provider: Provider,
  config: CliConfig,
  start: ConversationStart = {},
): Promise<CliConversation> {
  const { key, fork, runtime: continuedRuntime, context = runtimeContext(config) } = start
  const source = continuedRuntime ?? config.runtime
  const { runtime, ownsRuntime = false } = source ? await openRuntime(source, context) : {}
  const session = provider.open({ key, fork })
  const events: AgentEvent[] = []
  const messages: Message[] = [...(start.messages ?? [])]
  const isOwn = createOwnEventFilter()
  let served: Promise<ServedTools> | undefined

  function record(event: AgentEvent): void {
    if (isDelta(event)) return
    events.push(deepFreeze(event))
    if (isOwn(event)) foldMessages(messages, event)
  }

  async function closeBetweenRuns(): Promise<void> {
    const serving = served
    served = undefined
    await (await serving?.catch(() => undefined))?.close()
    await session.close()
  }

  for (const event of start.events ?? []) record(event)
  return {
    provider: provider.name,
    sessionId: context.session,
    session,
    events,
    messages,
    runtime,
    ownsRuntime,
    approved: [...(start.approved ?? [])],
    warnedOnce: new Set(),
    warnings: [],
    pendingSteering: [],
    system: start.system,
    record,
    async serveTurn(config, host) {
      served ??= serveTools(config, runtime)
      const opened = await served
      opened.setCallHost(host)
      return [...opened.servers]
    },
    closeBetweenRuns,
    async close() {
      await closeBetweenRuns()
      if (ownsRuntime) await runtime?.close()
    },
  }
}
