import type { CallToolResult } from "@modelcontextprotocol/server"
import { performTools, type ToolServices } from "../../actions/perform-tools.ts"
import { AgentError } from "../../core/errors.ts"
import type { Emit } from "../../core/event.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { isToolResult, type Tool } from "../../tools/tool.ts"
import type { McpCall } from "../mcp-types.ts"
import { toContent } from "../result-content.ts"
import type { CallHost } from "./call-host.ts"

/** What a call of a client has beside its host. */
export interface CallResources {
  signal: AbortSignal
  /** Tells the client how far it is. */
  progress(text: string): void
  maxOutputChars: number
  /** Where what is too long is kept. */
  runtime: Runtime | undefined
}

/** Makes a client's call of a tool the way a run makes that of a model: validated, by the gate, told, its result shaped. What
 *  goes wrong is a result that says so. */
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
    keptIn: "variable",
    async keepResult(text) {
      if (!runtime) throw new AgentError("there is no runtime to keep it in")
      return runtime.keep("_output", text)
    },
    seesImages: true,
    stopOn: undefined,
    interrupted: () => false,
  }
  let isObject = false
  const noted: Tool = {
    ...tool,
    async run(given, context) {
      const value = await tool.run(given, context)
      isObject = isPlainObject(value)
      return value
    },
  }
  const at = { tools: new Map([[tool.name, noted]]), context: host.context }
  const call = { type: "tool-call", id, name: tool.name, input } as const
  const [end] = (await host.within(() => performTools([call], at, services, emit))).ends
  if (!end) return { content: toContent("The call ended without a result."), isError: true }
  const { ok, text, images, kept } = end
  // Out of the text, which hooks and limits have had a hand in.
  const structuredContent = ok && isObject && kept === undefined ? parseObject(text) : undefined
  return { content: toContent(text, images), isError: !ok, ...(structuredContent && { structuredContent }) }
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isToolResult(value)
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
