// Makes a client's call of a tool in the same way as a run: validation, call gate, events, formatted result.
import type { CallToolResult } from "@modelcontextprotocol/server"
import { performTools, type ToolServices } from "../../actions/perform-tools.ts"
import { attempt } from "../../core/attempt.ts"
import { AgentError } from "../../core/errors.ts"
import type { Emit } from "../../core/event.ts"
import { isRecord } from "../../core/object.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { isToolResult, type Tool } from "../../tools/tool.ts"
import type { McpCall } from "../mcp-types.ts"
import { toContent } from "../result-content.ts"
import type { CallHost } from "./call-host.ts"

/** What a client's call has besides its host. */
export interface CallResources {
  signal: AbortSignal
  /** Sends progress to the client. */
  progress(text: string): void
  maxOutputChars: number
  /** Stores results that are too long. */
  runtime: Runtime | undefined
}

/** Calls a tool. Failures are returned as results. */
export async function callTool(
  tool: Tool,
  { id, input }: McpCall,
  host: CallHost,
  { signal, progress, maxOutputChars, runtime }: CallResources,
): Promise<CallToolResult> {
  const emit: Emit = (event) => {
    if (event.type === "tool-delta") progress(event.text)
    host.emit(event)
  }
  const services: ToolServices = {
    ...host.gate,
    signal,
    maxOutputChars,
    maxParallelTools: 1,
    resultStorage: "variable",
    async keepResult(text) {
      if (!runtime) throw new AgentError("there is no runtime to keep it in")
      return runtime.keep("_output", text)
    },
    seesImages: true,
    stopOn: undefined,
    hasNewSteers: () => false,
  }
  let isObject = false
  const observedTool: Tool = {
    ...tool,
    async run(given, context) {
      const value = await tool.run(given, context)
      isObject = isRecord(value) && !isToolResult(value)
      return value
    },
  }
  const at = { tools: new Map([[tool.name, observedTool]]), context: host.context }
  const call = { type: "tool-call", id, name: tool.name, input } as const
  const [end] = (await host.within(() => performTools([call], at, services, emit))).ends
  if (!end) return { content: toContent("The call ended without a result."), isError: true }
  const { ok, text, images, kept } = end
  // Read from the text, because hooks and limits may have changed it.
  const structuredContent = ok && isObject && kept === undefined ? parseObject(text) : undefined
  return { content: toContent(text, images), isError: !ok, ...(structuredContent && { structuredContent }) }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value: unknown = attempt(() => JSON.parse(text))
  return isRecord(value) ? value : undefined
}
