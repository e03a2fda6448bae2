// Makes tools of the tools of an MCP server.
import type { CallToolRequestOptions, Tool as ListedTool, Progress } from "@modelcontextprotocol/client"
import { checkOptions } from "../../core/checks/check-options.ts"
import { AgentError, ConfigError, errorData } from "../../core/errors.ts"
import type { JsonSchema } from "../../core/json.ts"
import { timerMs } from "../../core/time-limit.ts"
import { type Tool, type ToolContext, type ToolResult, tool, toolFailure } from "../../tools/tool.ts"
import { checkMcpServer, clientChecks } from "../mcp-option-checks.ts"
import type { McpClientOptions, McpServer, McpToolInfo, McpToolKit } from "../mcp-types.ts"
import { fromMcpResult } from "../result-content.ts"
import { type ClientPackage, loadClient } from "../sdk-packages.ts"
import { type Connection, connectToServer, isConnectionClosed, serverLabel } from "./mcp-connection.ts"
import { byIdentifier, safeToolName } from "./tool-names.ts"

/** Connects to an MCP server and returns its tools. Rejects if the server cannot be reached. */
export async function mcpTools(server: McpServer, options: McpClientOptions = {}): Promise<McpToolKit> {
  checkOptions("mcpTools()", options, clientChecks)
  checkMcpServer("mcpTools()", server)
  const { timeoutMs = 120_000, onChange, onWarning, signal } = options
  checkPrefix(options.prefix)
  const sdk = await loadClient()
  const tools: Tool[] = []
  let knownTools = new Map<string, { shown: string; tool: Tool }>()
  let isClosing = false
  let connection = await open(signal)
  const { name = connection.client.getServerVersion()?.name ?? serverLabel(server) } = options
  let opening: Promise<Connection> | undefined

  async function open(until?: AbortSignal): Promise<Connection> {
    const opened = await connectToServer(sdk, server, { ...options, timeoutMs, signal: until, onTools: listChanged })
    try {
      const request = { timeout: timerMs(timeoutMs), ...(until && { signal: until }) }
      const { tools: listed } = await opened.request((client) => client.listTools(undefined, request))
      updateTools(listed)
      return opened
    } catch (error) {
      await opened.close()
      throw new AgentError(
        `The MCP server "${serverLabel(server)}" does not list its tools: ${errorData(error).message}`,
        {
          code: "server-gone",
          cause: error,
        },
      )
    }
  }

  function listChanged(error: Error | null, listed: ListedTool[] | null): void {
    if (!listed)
      return onWarning?.(`The tools of "${serverLabel(server)}" could not be listed again: ${error?.message}`)
    updateTools(listed)
    onChange?.(tools)
  }

  // A tool that has not changed stays the same object.
  function updateTools(listed: readonly ListedTool[]): void {
    const next = new Map<string, { shown: string; tool: Tool }>()
    const usedNames = new Set<string>()
    for (const each of listed) {
      const shown = JSON.stringify(each)
      const known = knownTools.get(each.name)
      const kept = known?.shown === shown && !usedNames.has(known.tool.name) ? known.tool : toolOf(each, usedNames)
      if (!kept) continue
      usedNames.add(kept.name)
      next.set(each.name, { shown, tool: kept })
    }
    knownTools = next
    tools.splice(0, tools.length, ...[...next.values()].map((entry) => entry.tool))
  }

  function toolOf(listed: ListedTool, usedNames: ReadonlySet<string>): Tool | undefined {
    const info = toToolInfo(listed)
    if (options.only && !options.only(info)) return undefined
    const ownOptions = typeof options.options === "function" ? options.options(info) : options.options
    try {
      return tool({
        name: safeToolName(info.name, options.prefix, usedNames),
        description: info.description ?? info.title ?? "",
        input: info.input,
        output: info.output,
        sideEffect: !info.readOnly,
        idempotent: info.readOnly || info.idempotent,
        ...ownOptions,
        run: (input, context) => call(info.name, input, context),
      })
    } catch (error) {
      onWarning?.(`The tool "${info.name}" of "${serverLabel(server)}" was left out: ${errorData(error).message}`)
      return undefined
    }
  }

  async function call(tool: string, input: Record<string, unknown>, context: ToolContext): Promise<ToolResult> {
    for (let attempts = 1; ; attempts++) {
      let used: Connection
      try {
        used = await connected()
      } catch (error) {
        return toolFailure("server-gone", errorData(error).message)
      }
      try {
        return fromMcpResult(
          await used.request((client) => client.callTool({ name: tool, arguments: input }, requestFor(context))),
        )
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason
        // The server no longer knows the session. The call was not made, so it can be repeated.
        const isUnknownSession = error instanceof sdk.SdkHttpError && error.status === 404
        if (isUnknownSession || isConnectionLost(sdk, error)) await used.close()
        if (isUnknownSession && attempts === 1) continue
        return callFailure(sdk, error, { tool, server: name, timeoutMs, used })
      }
    }
  }

  function requestFor({ signal, progress }: ToolContext): CallToolRequestOptions {
    const lost = new AbortController()
    return {
      timeout: timerMs(timeoutMs),
      resetTimeoutOnProgress: true,
      signal: AbortSignal.any([signal, lost.signal]),
      onprogress: (note) => progress(progressText(note)),
      // Otherwise a broken stream would only be noticed at the time-out.
      onRequestStreamEnd: () => lost.abort(new StreamLostError()),
    }
  }

  /** Returns the connection, and connects again if it was lost. */
  async function connected(): Promise<Connection> {
    if (isClosing) throw new AgentError(`The tools of "${name}" were closed.`, { code: "server-gone" })
    if (connection.isOpen()) return connection
    opening ??= open().finally(() => {
      opening = undefined
    })
    connection = await opening
    if (isClosing) await connection.close()
    return connection
  }

  const close = async () => {
    isClosing = true
    await opening?.catch(() => undefined)
    await connection.close()
  }
  return {
    name,
    tools,
    get instructions() {
      return connection.client.getInstructions()
    },
    bindings: () => byIdentifier(tools),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function toToolInfo({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations = {},
}: ListedTool): McpToolInfo {
  return {
    name,
    title: title ?? annotations.title,
    description,
    // It was received as JSON.
    input: inputSchema as JsonSchema,
    output: outputSchema as JsonSchema | undefined,
    readOnly: annotations.readOnlyHint ?? false,
    destructive: annotations.destructiveHint ?? !annotations.readOnlyHint,
    idempotent: annotations.idempotentHint ?? false,
  }
}

class StreamLostError extends Error {}

// No answer of the server. `fetch` fails with a TypeError.
function isConnectionLost(sdk: ClientPackage, error: unknown): boolean {
  return isConnectionClosed(sdk, error) || error instanceof StreamLostError || error instanceof TypeError
}

function callFailure(
  sdk: ClientPackage,
  error: unknown,
  { tool, server, timeoutMs, used }: { tool: string; server: string; timeoutMs: number; used: Connection },
): ToolResult {
  if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.RequestTimeout) {
    return toolFailure("timeout", `${tool} of the MCP server "${server}" did not answer within ${timeoutMs} ms.`)
  }
  if (!isConnectionLost(sdk, error)) return toolFailure("tool-failed", errorData(error).message)
  return toolFailure(
    "server-gone",
    `The MCP server "${server}" was lost during ${tool}: ${used.endReason()}. Whether it took effect is not known. The next call connects again.`,
  )
}

function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress} of ${total}`
  return `${message === undefined ? share : message.trimEnd()}\n`
}

function checkPrefix(prefix: string | undefined): void {
  if (prefix === undefined || /^[A-Za-z_][\w-]{0,31}$/.test(prefix)) return
  throw new ConfigError(`mcpTools: the prefix "${prefix}" is no word of at most 32 letters, digits, "_" and "-".`)
}
