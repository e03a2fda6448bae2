// The service behind all transports: lists tools, and makes the calls of clients.
import type * as mcp from "@modelcontextprotocol/server"
import type { Approver } from "../../actions/approval.ts"
import { followSignals } from "../../core/abort.ts"
import { AbortError, ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { newId } from "../../core/message.ts"
import { ownVersion } from "../../core/own-version.ts"
import { resultWithin } from "../../core/time-limit.ts"
import type { Tool } from "../../tools/tool.ts"
import type { McpCall, ServeOptions, ToolSources } from "../mcp-types.ts"
import type { ServerPackage } from "../sdk-packages.ts"
import { toTools } from "../tool-sources.ts"
import { askClient, canAskClient, clientName } from "./ask-client.ts"
import { type CallHost, createCallHosts } from "./call-host.ts"
import { createCallQueue, type YieldTurn } from "./call-queue.ts"
import { callTool } from "./call-tool.ts"
import type { ClientCellCall } from "./client-cells.ts"
import { createInputRequiredCalls } from "./input-required.ts"
import { createProgressNotifier } from "./progress-notifications.ts"
import { createRuntimeTools } from "./runtime-tools.ts"
import { schemaValidator } from "./schema-validator.ts"

/** What the request provides to a call. */
interface CallRequest extends ClientCellCall {
  /** Asks the person at the client; undefined if the client cannot. */
  approver: Approver | undefined
  session: string
  /** The subjects of calls that the person has approved with "always". */
  approved: string[]
}

/** Serves tools and a runtime to clients over any transport. */
export function createMcpService(sdk: ServerPackage, options: ServeOptions) {
  const { name, version = ownVersion(), runtime, maxOutputChars } = options
  const runtimeTools = runtime && createRuntimeTools(runtime, options)
  const hostOf = createCallHosts(options)
  const inOrder = createCallQueue()
  const inputRequiredCalls = createInputRequiredCalls(sdk)
  const closing = new AbortController()
  const open = new Set<Promise<unknown>>()
  let instructions = withInstructions(runtimeTools?.usage)
  let tools = toolMap(options.tools ?? [])

  function toolMap(sources: ToolSources): ReadonlyMap<string, Tool> {
    const made = toTools(sources)
    const taken = runtimeTools?.listed.find(({ name }) => made.some((tool) => tool.name === name))
    if (taken) throw new ConfigError(`tools: "${taken.name}" is a tool of the runtime that is served. Rename yours.`)
    return new Map(made.map((tool) => [tool.name, tool]))
  }

  function withInstructions(declarations: string | undefined): string {
    return [options.instructions, declarations].filter(Boolean).join("\n\n")
  }

  function list(): mcp.Tool[] {
    return [...(runtimeTools?.listed ?? []), ...[...tools.values()].map(toListedTool)]
  }

  async function performCall(call: McpCall, { session, approved, ...given }: CallRequest): Promise<mcp.CallToolResult> {
    const tool = tools.get(call.tool)
    const host = hostOf(call, { approver: given.approver, approved })
    const controller = new AbortController()
    const stopFollowing = followSignals(controller, [
      given.signal,
      closing.signal,
      ...(host.signal ? [host.signal] : []),
    ])
    const resources = { ...given, signal: controller.signal }
    try {
      const result = runtimeTools?.call(call, host, resources)
      if (result) return await result
      if (!tool) throw unknownTool(call.tool)
      const work = (by: CallHost) =>
        callTool(tool, call, by, { ...resources, maxOutputChars: maxOutputChars ?? 40_000, runtime })
      if (tool.options.parallel) return await work(host)
      return await inOrder(session, (yieldTurn) => work(session === "" ? yieldTurnWhileAsking(host, yieldTurn) : host))
    } finally {
      stopFollowing()
    }
  }

  function answer(call: McpCall, context: mcp.ServerContext, server: mcp.Server, approved: string[]) {
    const session = context.sessionId ?? ""
    const asks = canAskClient(server, context)
    if (context.mcpReq.envelope && asks) {
      return inputRequiredCalls.answer(call, context, (begun, resumable) =>
        tracked(performCall(begun, { ...resumable, session, approved })),
      )
    }
    if (context.mcpReq.envelope && context.mcpReq.requestState() !== undefined) throw cannotContinue()
    const { signal } = context.mcpReq
    const approver = asks ? askClient(context) : undefined
    return performCall(call, { signal, progress: createProgressNotifier(context), approver, session, approved })
  }

  /** Registers work that `close` aborts and waits for. */
  function tracked<T>(work: Promise<T>): Promise<T> {
    open.add(work)
    return work.finally(() => open.delete(work))
  }

  // Starting the call again would repeat everything it did before it asked.
  function cannotContinue(): Error {
    return new sdk.ProtocolError(
      sdk.ProtocolErrorCode.InvalidParams,
      "The request continues a call that waits for an answer, but does not declare the capability `elicitation`. Declare it in each request.",
    )
  }

  function unknownTool(asked: string): Error {
    const known = list().map((each) => each.name)
    return new sdk.ProtocolError(
      sdk.ProtocolErrorCode.InvalidParams,
      `Unknown tool "${asked}". There are: ${known.join(", ") || "none"}.`,
    )
  }

  return {
    /** Creates the server for one connection or request. */
    factory(): mcp.Server {
      const server = new sdk.Server(
        { name, version },
        {
          capabilities: { tools: { listChanged: true } },
          jsonSchemaValidator: schemaValidator,
          ...(instructions && { instructions }),
        },
      )
      // Each client session has its own server, and "always" applies to that session only.
      const approved: string[] = []
      server.setRequestHandler("tools/list", () => ({ tools: list() }))
      server.setRequestHandler("tools/call", ({ params }, context) => {
        // It was received as JSON.
        const input = (params.arguments ?? {}) as Json
        const meta = context.mcpReq._meta ?? {}
        const call = { id: newId("call"), tool: params.name, input, meta, client: clientName(server, context) }
        return tracked<mcp.CallToolResult | mcp.InputRequiredResult>(answer(call, context, server, approved))
      })
      return server
    },
    /** Reads the declarations of the runtime again for the next client. Waits at most this long, because the runtime
     *  may be busy. */
    async refresh(withinMs = 2000): Promise<void> {
      if (!runtimeTools) return
      // A busy or closed runtime does not delay clients: they get the last known declarations.
      const declarations = await resultWithin(
        runtimeTools.instructions().catch(() => undefined),
        withinMs,
      )
      if (declarations !== undefined) instructions = withInstructions(declarations)
    },
    replaceTools(sources: ToolSources): void {
      tools = toolMap(sources)
    },
    /** Aborts the calls in progress and waits for them. */
    async close(): Promise<void> {
      const reason = new AbortError("The server is closing.")
      closing.abort(reason)
      inputRequiredCalls.close(reason)
      await Promise.all([runtimeTools?.close(reason), Promise.allSettled(open)])
    },
  }
}

/** Clients without a session share one queue. While one of them is asked, others take their turn. */
function yieldTurnWhileAsking(host: CallHost, yieldTurn: YieldTurn): CallHost {
  const { approver: approve } = host.gate
  if (typeof approve !== "function") return host
  return { ...host, gate: { ...host.gate, approver: (call, signal) => yieldTurn(async () => approve(call, signal)) } }
}

// The JSON Schema dialect of our tools, which is also the protocol's default.
const dialect = "https://json-schema.org/draft/2020-12/schema"

function toListedTool({ name, description, input, options }: Tool): mcp.Tool {
  const { sideEffect, idempotent } = options
  const annotations = {
    ...(sideEffect === false && { readOnlyHint: true }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
  }
  return { name, description, inputSchema: { $schema: dialect, ...input, type: "object" }, annotations }
}
