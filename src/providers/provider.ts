// The provider contract: how Karst drives one coding CLI. A provider says how the program is started and what its
// output means; the agent around it (cli-agent.ts) does the rest.
import type { ProviderError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import type { ImagePart, UserMessage } from "../core/message.ts"
import type { Price, Usage } from "../core/usage.ts"

/** What a CLI may be allowed to do. `parallel`: start sub-agents; `interaction`: ask the user. */
export const toolGroups = ["read", "write", "exec", "web", "parallel", "interaction"] as const
export type ToolGroup = (typeof toolGroups)[number]

/** The groups that are not allowed but that shell commands can do anyway, unless each command needs an approval. */
export function groupsReachableByShell({
  allow,
  permissions,
}: Pick<TurnSettings, "allow" | "permissions">): ToolGroup[] {
  if (!allow.has("exec") || permissions === "ask") return []
  return (["read", "write", "web"] as const).filter((group) => !allow.has(group))
}

/** The groups that need no approval. */
export function grantedGroups({ allow, permissions }: Pick<TurnSettings, "allow" | "permissions">): ToolGroup[] {
  return [...allow].filter((group) => permissions !== "ask" || group === "read")
}

/** Returns true if the CLI may run commands. If not, hooks, plugins and settings of the repository that run commands
 *  are turned off. */
export function mayRunCommands({ allow, permissions }: Pick<TurnSettings, "allow" | "permissions">): boolean {
  return allow.has("exec") || permissions === "bypass"
}

/** A model by its purpose; each CLI maps it to a model. */
export type Tier = "strongest" | "fast"

export function isTier(model: string | undefined): model is Tier {
  return model === "strongest" || model === "fast"
}

/** A coding CLI. It has no state; options, runs, events, sessions, archives, tools and approvals belong to the agent.
 *  */
export interface Provider {
  /** One lower-case word, as in `KARST_PROVIDER`. */
  readonly name: string
  /** The name shown to people, such as "Claude Code". */
  readonly title: string
  /** The name of its program, looked up in PATH, then in `installFolders`. */
  readonly binary: string
  /** Other folders where installers put the program; `~/` is the user's home. */
  readonly installFolders?: readonly string[] | undefined
  /** The command that installs it; empty if unknown. */
  readonly install: string
  /** The maker of its models, as in the price list: "anthropic". Undefined if model names include the maker. */
  readonly maker?: string | undefined
  readonly can: Capabilities
  /** The price of its model, if neither the CLI nor the price list knows it. */
  readonly price?: Price | undefined
  /** The models of tiers; without a model, the CLI's default model. The environment variable of the CLI that sets one
   *  has precedence. */
  readonly tiers: Readonly<Record<Tier, { model?: string | undefined; variable?: string | undefined }>>
  /** The groups that are not allowed but that the CLI could use anyway; the run warns about each. */
  unenforcedGroups(settings: Pick<TurnSettings, "allow" | "permissions">): readonly ToolGroup[]
  /** Opens a conversation: a new one, the one of `key`, or, with `fork`, a copy of the one of `key`. Starts no process.
   *  */
  open(opening: { key?: string | undefined; fork?: boolean | undefined }): ProviderSession
  /** The command that starts it for a person in a terminal; undefined if it has no terminal interface. */
  terminalCommand?: ((launch: TerminalLaunch) => Promise<TerminalCommand>) | undefined
}

export interface Capabilities {
  /** A conversation can be forked. */
  fork: boolean
  images: boolean
  /** It asks for permission before it acts if `permissions` is "ask". */
  ask: boolean
  /** Messages can be sent to the model while it works. */
  steer: boolean
  /** It reports tokens and cost during a turn, so that limits on them can be enforced. */
  tokens: boolean
  cost: boolean
  /** Its system prompt can be replaced. */
  systemPrompt: boolean
  /** MCP servers of the user's own configuration can be allowed one by one. */
  userServers: boolean
}

const noCapabilities: Capabilities = {
  fork: false,
  images: false,
  ask: false,
  steer: false,
  tokens: false,
  cost: false,
  systemPrompt: false,
  userServers: false,
}

/** Capabilities of which only these are true. */
export function capabilities(...names: readonly (keyof Capabilities)[]): Capabilities {
  return { ...noCapabilities, ...Object.fromEntries(names.map((name) => [name, true])) }
}

/** One conversation with a CLI. Turns never overlap: the caller waits for the previous one. */
export interface ProviderSession {
  /** The CLI's id of the conversation, by which any process can resume it; undefined until the CLI reports it. */
  readonly key: string | undefined
  /** The CLI's id of the conversation that the first turn copies, until it has; undefined if this is no fork. */
  readonly forkOf?: string | undefined
  /** Sends one prompt and follows the CLI to the end of its turn. A failure of the CLI or of its model service is
   *  returned as `failure`. Rejects with the signal's reason when it fires. However the turn ends, none of its
   *  processes is left running, unless the provider keeps one between turns. */
  turn(turn: TurnRequest, services: TurnServices): Promise<TurnResult>
  /** Ends a process kept between turns; the next turn starts it again. May be called twice. */
  close(): Promise<void>
}

export interface TurnRequest {
  readonly message: UserMessage
  /** May differ from turn to turn. */
  readonly settings: TurnSettings
}

/** The options of a turn, checked and with all defaults. */
export interface TurnSettings {
  /** The path of the program. */
  readonly program: string
  /** The absolute path of an existing folder. */
  readonly cwd: string
  readonly model: string | undefined
  readonly reasoning: string | undefined
  readonly instructions: string | undefined
  /** Replaces the CLI's own system prompt. */
  readonly systemPrompt: string | undefined
  readonly allow: ReadonlySet<ToolGroup>
  /** `allow`: the groups in `allow` and all tools of `servers` are granted, everything else is refused. `ask`: reading
   *  is granted, the other groups in `allow` need an approval. `bypass`: nothing is checked. */
  readonly permissions: "allow" | "ask" | "bypass"
  /** The MCP servers it gets from us, and the names of servers of its own configuration that it may use. */
  readonly servers: readonly CliServer[]
  readonly userServers: readonly string[]
  /** The complete environment of its process. */
  readonly env: Readonly<Record<string, string>>
  /** How long a turn may take, and how long the CLI may be silent. */
  readonly timeoutMs: number | undefined
  readonly idleTimeoutMs: number | undefined
}

/** An MCP server for a CLI. Its tools are always granted. */
export type CliServer = { readonly name: string; readonly toolTimeoutMs: number } & (
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined }
  | {
      readonly command: string
      readonly args?: readonly string[] | undefined
      readonly env?: Readonly<Record<string, string>> | undefined
    }
)

export interface TurnServices {
  readonly signal: AbortSignal
  /** Reports what happens, in order. */
  report(step: Step): void
  /** Answers a permission request of the CLI if `permissions` is "ask". Rejects only when the signal fires. */
  approve(request: { id: string; name: string; input: Json }): Promise<"allow" | "always" | "deny">
  /** Returns and clears the messages sent to the running model since the last call. A provider that can steer calls it
   *  after each line of output. */
  takeSteering(): string[]
}

/** Something that happens in a turn, in a form common to all CLIs. Call ids are unique in a conversation. `within` is
 *  the id of the call whose sub-agent reports the step. `answer` identifies the model call the step belongs to, if
 *  known. */
export type Step =
  | { type: "key"; key: string }
  /** The model in use. */
  | { type: "model"; id: string }
  /** With `delta`, a piece shown while it streams; a step with the whole text, without `delta`, follows. */
  | { type: "text" | "reasoning"; text: string; delta?: true; answer?: string; within?: string }
  | { type: "call"; id: string; name: string; input: Json; answer?: string; within?: string }
  /** A call has started a sub-agent of the CLI; its steps follow, with `within`. */
  | { type: "agent"; id: string; within?: string }
  /** The sub-agent of a call whose result was `detached` has ended. */
  | { type: "agent-end"; id: string; ok: boolean; text: string }
  /** Output of a running call. */
  | { type: "progress"; id: string; text: string; within?: string }
  /** With `detached`, the call only started a sub-agent, which runs until `agent-end`. */
  | {
      type: "result"
      id: string
      ok: boolean
      text: string
      images?: ImagePart[]
      refused?: true
      detached?: true
      within?: string
    }
  /** Files the CLI created or changed. */
  | { type: "files"; paths: string[] }
  /** The usage of the turn so far, for limits enforced while it runs. */
  | { type: "usage"; usage: Usage }
  | { type: "warning"; code: string; message: string }
  /** A line of the CLI as written: parsed if it is JSON, else as text. */
  | { type: "raw"; data: Json }

/** A request to start a CLI in a terminal. */
export interface TerminalLaunch {
  /** If `allow` has every group, nothing is restricted. With "ask", the CLI asks the person itself. */
  readonly settings: TurnSettings
  /** The first prompt. */
  readonly prompt: string | undefined
  /** The conversation to resume. */
  readonly key: string | undefined
  /** A private folder for files, removed afterwards. */
  readonly folder: string
}

export interface TerminalCommand {
  args: readonly string[]
  env?: Readonly<Record<string, string>> | undefined
  /** The key of its conversation, if known in advance. */
  key?: string | undefined
  /** Matches the resume command the CLI prints when it exits, with the key as first group. That key takes precedence,
   *  because the person may have started another conversation. */
  resumeHint?: RegExp | undefined
  /** Releases what was opened for the command. */
  close?: (() => Promise<void>) | undefined
}

export interface TurnResult {
  /** Default: the last reported text. */
  output?: string | undefined
  /** The usage of this turn alone. */
  usage: Usage
  failure?: ProviderError | undefined
}
