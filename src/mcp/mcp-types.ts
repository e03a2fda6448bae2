// The public types of karst/mcp: servers, client options, server options.
import type { Approver } from "../actions/approval.ts"
import type { GateServices } from "../actions/call.ts"
import type { Hooks } from "../actions/hooks.ts"
import type { CodeServices } from "../actions/perform-code.ts"
import type { Agent, Limits } from "../core/agent.ts"
import type { AgentEvent, Emit } from "../core/event.ts"
import type { Json, JsonSchema } from "../core/json.ts"
import type { RunContext } from "../core/run-context.ts"
import type { AnyFunction, FunctionBinding } from "../runtime/bindings.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Tool, ToolContext, ToolOptions } from "../tools/tool.ts"
import type { Workspace } from "../workspaces/workspace.ts"

/** An MCP server: a program that uses its standard streams, or an address with streamable HTTP. */
export type McpServer = McpCommand | McpAddress

export interface McpCommand {
  command: string
  args?: readonly string[] | undefined
  /** Environment variables in addition to PATH, HOME, the language and a few more. Nothing else of the host's
   *  environment is passed. */
  env?: Readonly<Record<string, string>> | undefined
  /** Default: the host's working directory. */
  cwd?: string | undefined
}

export interface McpAddress {
  url: string
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>> | undefined
}

/** The options of `mcpTools`. */
export interface McpClientOptions {
  /** The server's name in messages. Default: the name that it reports. */
  name?: string | undefined
  /** A prefix of each tool's name, separated by `_`. Default: none. */
  prefix?: string | undefined
  /** Selects tools of the server. Default: all. */
  only?: ((listed: McpToolInfo) => boolean) | undefined
  /** Tool options for all tools or for each. Default: from the effects that the server declares. */
  options?: ToolOptions | ((listed: McpToolInfo) => ToolOptions) | undefined
  /** For an address: returns the bearer token before each request, or a complete `OAuthClientProvider` of
   *  `@modelcontextprotocol/client`. */
  auth?: McpAuth | undefined
  /** Waits for the user to return from the authorization page, and resolves with the parameters of the redirect:
   *  `code` and `iss`. */
  waitForAuthorization?: (() => Promise<URLSearchParams>) | undefined
  /** How long the server may take to start and to answer a call. Each progress notification restarts the clock.
   *  Default 120,000. */
  timeoutMs?: number | undefined
  /** Aborts the attempt to connect. */
  signal?: AbortSignal | undefined
  /** Called when the server's tools have changed, with the new tools. */
  onChange?: ((tools: readonly Tool[]) => void) | undefined
  /** Called with problems outside of calls, such as a tool list that cannot be read again. */
  onWarning?: ((message: string) => void) | undefined
}

export type McpAuth =
  | { token(): Promise<string | undefined> }
  // Some members of such a provider.
  | { readonly clientMetadata: object; tokens(): unknown }

/** A tool as listed by its server. */
export interface McpToolInfo {
  /** The server's name for the tool. */
  name: string
  title?: string | undefined
  description?: string | undefined
  input: JsonSchema
  output?: JsonSchema | undefined
  /** As declared by the server; only as reliable as the server. */
  readOnly: boolean
  destructive: boolean
  idempotent: boolean
}

/** The tools of an MCP server, for an agent or as functions of a runtime. Closing it ends the connection and, if the
 *  server was started here, its whole process group. Can be called twice. */
export interface McpToolKit extends AsyncDisposable {
  /** The server's name. */
  readonly name: string
  /** Updated in place when the server's tools change, so that the next run of an agent with this array has the new
   *  tools. If the server has died, a call is a failure that the model sees, and the next call starts the server
   *  again. */
  readonly tools: Tool[]
  /** The server's instructions for its tools. */
  readonly instructions: string | undefined
  /** The same tools by identifiers for cells: `jsRuntime({ ...kit.bindings() })`. */
  bindings(): Record<string, Tool>
  /** Closes the connection and ends a server that was started. */
  close(): Promise<void>
}

/** Tools in every form: made by `tool()`, agents, named functions, and lists such as those of `methods()`; or an
 *  object of these by name, in which functions can be wrapped by `fn` with options. */
export type ToolSources =
  | readonly (Tool | Agent | AnyFunction | readonly Tool[])[]
  | Readonly<Record<string, ToolSource>>

export type ToolSource = Tool | Agent | FunctionBinding | AnyFunction

/** What a server offers, and the policy for calls of its clients. Validation, approval, limits, rules and output
 *  work as in a run. */
export interface ServeOptions {
  /** The server's name for clients; one word. */
  name: string
  /** Default: the version of Karst. */
  version?: string | undefined
  /** Tools, agents and functions to serve. */
  tools?: ToolSources | undefined
  /** Serves a runtime as the tools `describe`, `run`, `inspect` and `wait`. Several clients and agents can share
   *  one. It is not closed with the server. */
  runtime?: Runtime | undefined
  /** Instructions for clients, shown before the declarations of the runtime. */
  instructions?: string | undefined
  /** Answers approval requests. `client`: asks the person at the client, if the client supports that. Default: such
   *  calls are refused. */
  approver?: Approver | "client" | undefined
  /** How long an approval request waits for an answer; then the call is refused. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  /** Hooks around calls. */
  hooks?: Hooks | readonly Hooks[] | undefined
  /** The number of calls, in total and per name, while the server runs. Default: no limit. */
  limits?: Pick<Limits, "calls" | "callsByName"> | undefined
  /** The files that tools work on. Default: an empty workspace in memory. */
  workspace?: Workspace | undefined
  /** Receives events of client calls: `tool-…`, `code-…`, `call-…`, `approval-…` and `warning-raised`, as in a run. */
  onEvent?: ((event: AgentEvent) => unknown) | undefined
  /** Overrides the settings above for each call, for example with those of the run in progress. */
  host?: ((call: McpCall) => McpHost) | undefined
  /** How long a call of `run`, `inspect` or `wait` takes at most. After that it answers that the cell is still
   *  running, because clients abort calls after 60 s. Default 40,000. */
  answerTimeoutMs?: number | undefined
  /** As of an agent. */
  typeGate?: CodeServices["typeGate"]
  /** As of an agent. */
  transaction?: CodeServices["transaction"]
  /** The time limit of a cell. Default: none. */
  cellTimeoutMs?: number | undefined
  /** How many characters of a result a client sees; the rest of a cell's output is stored in a variable. Default
   *  5,000, and 40,000 for tools. */
  maxOutputChars?: number | undefined
}

/** `serveMcp` listens on 127.0.0.1 only. */
export interface ServeMcpOptions extends ServeOptions {
  /** Default: a free port. */
  port?: number | undefined
  /** At least 32 characters. Default: 256 random bits. */
  token?: string | undefined
  /** The size of one request. Default 4 MiB. */
  maxBodyBytes?: number | undefined
  /** The number of client sessions. Beyond it, the session that was idle longest is closed, and its client starts a
   *  new one. Default 256. */
  maxSessions?: number | undefined
}

/** A listening server. Closing it ends the calls in progress and stops listening. Can be called twice. */
export interface McpEndpoint extends AsyncDisposable {
  /** The address without the token. */
  readonly url: string
  readonly token: string
  /** The headers that `url` requires: `{ Authorization: "Bearer …" }`. */
  readonly headers: Readonly<Record<string, string>>
  /** An address that requires no header, for clients that cannot send one. */
  readonly secretUrl: string
  /** Notifies clients that the tools have changed, and replaces them if `tools` is given. */
  updateTools(tools?: ToolSources): void
  /** Ends the calls under way and stops listening. */
  close(): Promise<void>
}

/** A call of a client, before anything is done. */
export interface McpCall {
  id: string
  tool: string
  input: Json
  /** The client's name, if it sent one. */
  client?: string | undefined
  /** Metadata that the client sent with the call, such as its own call id. */
  meta: { readonly [key: string]: unknown }
}

/** The policy, events and context of one call. Missing members have the server's values. */
export interface McpHost extends Partial<GateServices> {
  emit?: Emit | undefined
  /** The run that the call belongs to. Runs that the call starts are its children. */
  run?: RunContext | undefined
  /** Runs the work of the call in an async context, such as that of the cell that waits for it (see
   *  `AsyncLocalStorage.snapshot()`). Default: the context in which the server was opened. */
  within?: (<T>(work: () => T) => T) | undefined
  /** Aborts the call. */
  signal?: AbortSignal | undefined
  /** The context of tools. Default: the server's workspace, and a state that lives as long as the server. */
  context?: Pick<ToolContext, "workspace" | "state" | "messages"> | undefined
  /** The remaining time of the run, for cells. */
  leftMs?: CodeServices["leftMs"] | undefined
  cellEnv?: CodeServices["cellEnv"]
}
