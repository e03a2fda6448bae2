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

/** An MCP server of somebody: a program that speaks over its standard input and output, or an address that speaks
 *  streamable HTTP. */
export type McpServer = McpCommand | McpAddress

export interface McpCommand {
  command: string
  args?: readonly string[] | undefined
  /** What it sees of the environment beside PATH, HOME, the language and the like: nothing else of the host's reaches it. */
  env?: Readonly<Record<string, string>> | undefined
  /** Default: the host's. */
  cwd?: string | undefined
}

export interface McpAddress {
  url: string
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>> | undefined
}

/** What `mcpTools` takes beside the server. */
export interface McpClientOptions {
  /** What the server is called in messages. Default: what it says of itself. */
  name?: string | undefined
  /** Put before each tool's name, with `_` between. Default: nothing. */
  prefix?: string | undefined
  /** Which of its tools to take. Default: all. */
  only?: ((listed: McpToolInfo) => boolean) | undefined
  /** What the gate holds their calls to, for all or each. Default: what the server says of itself about effects. */
  options?: ToolOptions | ((listed: McpToolInfo) => ToolOptions) | undefined
  /** For an address: gives the bearer token before each request, or a whole `OAuthClientProvider` of
   *  `@modelcontextprotocol/client`. */
  auth?: McpAuth | undefined
  /** Waits for what the page gave back to which such a provider has sent the user, as its address has it: `code` and `iss`. */
  authorized?: (() => Promise<URLSearchParams>) | undefined
  /** How long the server may take to start and to answer a call; each note of progress starts it anew. Default 120,000. */
  timeoutMs?: number | undefined
  /** Ends the attempt to connect. */
  signal?: AbortSignal | undefined
  /** Called when the server has other tools than before; `tools` are those by then. */
  onChange?: ((tools: readonly Tool[]) => void) | undefined
  /** Told what goes wrong beside the calls, such as a list that cannot be read again. */
  onWarning?: ((message: string) => void) | undefined
}

export type McpAuth =
  | { token(): Promise<string | undefined> }
  // What such a provider has among others.
  | { readonly clientMetadata: object; tokens(): unknown }

/** A tool as its server lists it. */
export interface McpToolInfo {
  /** The server's own name of it. */
  name: string
  title?: string | undefined
  description?: string | undefined
  input: JsonSchema
  output?: JsonSchema | undefined
  /** What the server says of it; only as true as the server is trusted. */
  readOnly: boolean
  destructive: boolean
  idempotent: boolean
}

/** The tools of an MCP server, as those of an agent or as functions of a runtime. Closing it ends the connection, and the server's
 *  whole process group where it was started here. Twice is fine. */
export interface McpToolKit extends AsyncDisposable {
  /** What the server is called. */
  readonly name: string
  /** Changed in place when the server tells of others, so that the next run of an agent that was given it has those. A
   *  call of a tool whose server has died is a failure the model sees, and the next one starts the server again. */
  readonly tools: Tool[]
  /** How to use them, as the server says. */
  readonly instructions: string | undefined
  /** The same tools by names that cells can use: `jsRuntime({ ...kit.bindings() })`. */
  bindings(): Record<string, Tool>
  close(): Promise<void>
}

/** Tools in every form: made by `tool()`, agents, named functions, and lists such as `methods()` makes of an object with state;
 *  or the same by name, where functions may be wrapped by `fn` to say more. */
export type ToolSources =
  | readonly (Tool | Agent | AnyFunction | readonly Tool[])[]
  | Readonly<Record<string, ToolSource>>

export type ToolSource = Tool | Agent | FunctionBinding | AnyFunction

/** What is served, and what the calls of clients are held to. Our own tools and runtime keep their promises: validation,
 *  approval, limits, rules and output as in a run. */
export interface ServeOptions {
  /** What clients know it as; one word. */
  name: string
  /** Default: Karst's own. */
  version?: string | undefined
  tools?: ToolSources | undefined
  /** Serves a runtime as the tools `describe`, `run`, `inspect` and `wait`. Several clients, and agents of ours, may share one; it
   *  is not closed with the server. */
  runtime?: Runtime | undefined
  /** Said to clients before the declarations of what is in the runtime. */
  instructions?: string | undefined
  /** Answers the calls that ask for approval. `client`: the person at the client is asked, where the client can do that. Default:
   *  they are refused. */
  approver?: Approver | "client" | undefined
  /** How long an approval may stay unanswered; then the call is refused. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  hooks?: Hooks | readonly Hooks[] | undefined
  /** Calls in all, and of each name, for as long as it serves. Default: no limit. */
  limits?: Pick<Limits, "calls" | "callsOf"> | undefined
  /** The files that tools work on. Default: none but what they write, in memory. */
  workspace?: Workspace | undefined
  /** Sees what clients do: `tool-…`, `code-…`, `call-…`, `approval-…` and `warning-raised`, as in a run. */
  onEvent?: ((event: AgentEvent) => unknown) | undefined
  /** In place of the above, for each call: what holds for it now, such as in the run that is under way. */
  host?: ((call: McpCall) => McpHost) | undefined
  /** How long a call of `run`, `inspect` or `wait` takes at most: then it answers that the cell goes on. Clients cut calls at
   *  60 s. Default 40,000. */
  answerWithinMs?: number | undefined
  typeGate?: CodeServices["typeGate"]
  transaction?: CodeServices["transaction"]
  cellTimeoutMs?: number | undefined
  /** Characters of a result that a client sees; of a cell's, the rest is kept in a variable. Default 5,000, and 40,000 of a tool's. */
  maxOutputChars?: number | undefined
}

/** `serveMcp` listens on 127.0.0.1 alone. */
export interface ServeMcpOptions extends ServeOptions {
  /** Default: a free one. */
  port?: number | undefined
  /** At least 32 characters. Default: 256 random bits. */
  token?: string | undefined
  /** Of one request. Default 4 MiB. */
  maxBodyBytes?: number | undefined
  /** Of clients that have sessions; beyond it the one that was idle longest is ended, and its client begins another. Default 256. */
  maxSessions?: number | undefined
}

/** A server that listens. Closing it ends the calls under way, and nothing is left listening. Twice is fine. */
export interface McpEndpoint extends AsyncDisposable {
  /** Without the token. */
  readonly url: string
  readonly token: string
  /** With these, `url` can be used: `{ Authorization: "Bearer …" }`. */
  readonly headers: Readonly<Record<string, string>>
  /** An address that needs no header, for clients that cannot send one. */
  readonly secretUrl: string
  /** Tells clients that the tools are others now: those of `tools`, where they are given. */
  changed(tools?: ToolSources): void
  close(): Promise<void>
}

/** A call of a client, before anything is done. */
export interface McpCall {
  id: string
  tool: string
  input: Json
  /** The client's name, where it said one. */
  client?: string | undefined
  /** What the client sent beside the input, such as its own id of the call. */
  meta: { readonly [key: string]: unknown }
}

/** What a call is held to and who is told of it, in the words of the gate; what is left out is as without a host. */
export interface McpHost extends Partial<GateServices> {
  emit?: Emit | undefined
  /** The run that it is part of: runs that it starts are children of that one. */
  run?: RunContext | undefined
  /** Does its work where it belongs, as `AsyncLocalStorage.snapshot()` gives it: in the cell that waits for it, which its own cells may
   *  then interrupt. Default: where the server was opened. */
  within?: (<T>(work: () => T) => T) | undefined
  /** Ends the call. */
  signal?: AbortSignal | undefined
  /** What tools work with. Default: the server's files, and a state for as long as it serves. */
  context?: Pick<ToolContext, "workspace" | "state" | "messages"> | undefined
  /** What is left of the run's time, for cells. */
  leftMs?: CodeServices["leftMs"] | undefined
  cellEnv?: CodeServices["cellEnv"]
}
