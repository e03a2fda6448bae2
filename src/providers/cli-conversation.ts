import { type AgentEvent, isDelta } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../core/trajectory.ts"
import { deepFreeze } from "../core/values/freeze.ts"
import type { McpCall, McpHost } from "../mcp/mcp-types.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { CliConfig } from "./options.ts"
import type { CliServer, Provider, ProviderSession } from "./provider.ts"
import { type ServedTools, serveTools } from "./serve-tools.ts"

/** What runs of one conversation with a CLI share. */
export interface CliConversation {
  /** The name of the CLI. */
  readonly provider: string
  readonly session: ProviderSession
  readonly events: readonly AgentEvent[]
  readonly messages: readonly Message[]
  readonly runtime: Runtime | undefined
  readonly ownsRuntime: boolean
  /** What was approved for good. */
  readonly approved: string[]
  /** What was said once and need not be said again. */
  readonly warnedOnce: Set<string>
  /** What the owner should know, told with the next run. */
  readonly warnings: string[]
  /** What was said too late, or to a model that cannot be told while it works: it goes with the next prompt. */
  readonly pendingSteering: string[]
  /** The instructions that the record has. */
  system: string | undefined
  record(event: AgentEvent): void
  /** Stores what is new, where the conversation is archived. */
  save?: ((ended: boolean) => Promise<void>) | undefined
  /** The servers of a turn: the user's, and ours with the tools and the runtime, each of whose calls has a host. */
  serveTurn(config: CliConfig, host: (call: McpCall) => McpHost): Promise<CliServer[]>
  /** Ends what a run leaves open for the next one, which opens it again: not the runtime. */
  closeBetweenRuns(): Promise<void>
  close(): Promise<void>
}

export interface ConversationStart {
  key?: string | undefined
  fork?: boolean | undefined
  /** What was said before, and what happened. */
  messages?: readonly Message[] | undefined
  events?: readonly AgentEvent[] | undefined
  approved?: readonly string[] | undefined
  system?: string | undefined
  /** In place of what the options say: of the conversation that this one goes on from. */
  runtime?: Runtime | undefined
}

export async function createCliConversation(
  provider: Provider,
  config: CliConfig,
  beginning: ConversationStart = {},
): Promise<CliConversation> {
  const { key, fork, runtime: earlier } = beginning
  const source = earlier ?? config.runtime
  const runtime = typeof source === "function" ? await source() : source
  const ownsRuntime = typeof source === "function"
  const session = provider.open({ key, fork })
  const events: AgentEvent[] = []
  const messages: Message[] = [...(beginning.messages ?? [])]
  const isOwn = createOwnEventFilter()
  let served: Promise<ServedTools> | undefined

  function record(event: AgentEvent): void {
    if (isDelta(event)) return
    events.push(deepFreeze(event))
    if (isOwn(event)) foldMessages(messages, event)
  }

  async function rest(): Promise<void> {
    const serving = served
    served = undefined
    await (await serving?.catch(() => undefined))?.close()
    await session.close()
  }

  for (const event of beginning.events ?? []) record(event)
  return {
    provider: provider.name,
    session,
    events,
    messages,
    runtime,
    ownsRuntime,
    approved: [...(beginning.approved ?? [])],
    warnedOnce: new Set(),
    warnings: [],
    pendingSteering: [],
    system: beginning.system,
    record,
    async serveTurn(config, host) {
      served ??= serveTools(config, runtime)
      const opened = await served
      opened.setCallHost(host)
      return [...opened.servers]
    },
    closeBetweenRuns: rest,
    async close() {
      await rest()
      if (ownsRuntime) await runtime?.close()
    },
  }
}
