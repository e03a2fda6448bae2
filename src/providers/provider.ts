import type { ProviderError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import type { ImagePart, UserMessage } from "../core/message.ts"
import type { Price, Usage } from "../core/usage.ts"

/** What a CLI may be allowed to do. `parallel`: start agents of its own; `interaction`: ask the user. */
export const toolGroups = ["read", "write", "exec", "web", "parallel", "interaction"] as const
export type ToolGroup = (typeof toolGroups)[number]

/** What is not allowed and a shell does all the same, unless somebody looks at each command. */
export function groupsReachableByShell({
  allow,
  permissions,
}: Pick<TurnSettings, "allow" | "permissions">): ToolGroup[] {
  if (!allow.has("exec") || permissions === "ask") return []
  return (["read", "write", "web"] as const).filter((group) => !allow.has(group))
}

/** Whether the CLI may run commands. Where not, hooks, plugins and settings of the repository, which run some, are left out. */
export function mayRunCommands({ allow, permissions }: Pick<TurnSettings, "allow" | "permissions">): boolean {
  return allow.has("exec") || permissions === "bypass"
}

/** A model by what it is good for; each CLI has its own. */
export type Tier = "strongest" | "fast"

/** A coding CLI as Karst drives it: it says how the program is started and what its stream means, and keeps nothing. The
 *  agent around it (`cli-agent.ts`) does the rest: options, runs, events, sessions, archives, tools and approvals. */
export interface Provider {
  /** One lower-case word, as in `KARST_PROVIDER`. */
  readonly name: string
  /** For people, such as "Claude Code". */
  readonly title: string
  /** The name of its program, looked for in PATH, then in `places`. */
  readonly binary: string
  /** More folders where its installer puts it; `~/` is the user's own. */
  readonly installFolders?: readonly string[] | undefined
  /** A command that installs it; empty where nobody knows. */
  readonly install: string
  /** Whose models it uses, as in the price list: "anthropic". Undefined: its models name their maker. */
  readonly maker?: string | undefined
  readonly can: Capabilities
  /** The price of its model, where neither the CLI nor the price list knows it. */
  readonly price?: Price | undefined
  /** The model of a tier; undefined where the CLI's own default is it. */
  model(tier: Tier, env: Readonly<Record<string, string | undefined>>): string | undefined
  /** The groups that are not allowed and that it could use all the same; each becomes a warning. */
  unenforcedGroups(settings: Pick<TurnSettings, "allow" | "permissions">): readonly ToolGroup[]
  /** Goes on with a conversation, begins one, or, with `fork`, one that goes on from another and leaves that as it is. Starts
   *  nothing yet. */
  open(opening: { key?: string | undefined; fork?: boolean | undefined }): ProviderSession
  /** How it is started for a person in a terminal; undefined where it has no face of its own. */
  terminalCommand?: ((launch: TerminalLaunch) => Promise<TerminalCommand>) | undefined
}

export interface Capabilities {
  /** Whether a conversation can be forked. */
  fork: boolean
  images: boolean
  /** Whether it asks before it does something, when `permissions` is "ask". */
  ask: boolean
  /** Whether the running model can be told something. */
  steer: boolean
  /** Whether it reports tokens and cost while a turn goes on, so that limits on them can hold. */
  tokens: boolean
  cost: boolean
  /** Whether its own system prompt can be replaced. */
  systemPrompt: boolean
  /** Whether servers of the user's own configuration can be allowed one by one. */
  userServers: boolean
}

/** One conversation with a CLI. Turns never overlap: the caller waits for the one before. */
export interface ProviderSession {
  /** What another process resumes it by; undefined until the CLI has told it. */
  readonly key: string | undefined
  /** Sends one prompt and follows the CLI to the end of its turn. A failure of the CLI or of what is behind it comes back as
   *  `failure`. Rejects with the reason of the signal once that fires; by then, as after any end, none of the processes
   *  it started is left, unless the provider keeps one between turns. */
  turn(turn: TurnRequest, services: TurnServices): Promise<TurnResult>
  /** Ends what is kept between turns; a turn after it begins that again. Twice is fine. */
  close(): Promise<void>
}

export interface TurnRequest {
  readonly message: UserMessage
  /** They may differ from turn to turn. */
  readonly settings: TurnSettings
}

/** The options of a turn, checked and complete. */
export interface TurnSettings {
  /** The program, as it was found. */
  readonly program: string
  /** An existing folder, absolute. */
  readonly cwd: string
  readonly model: string | undefined
  readonly reasoning: string | undefined
  readonly instructions: string | undefined
  /** In place of the CLI's own system prompt. */
  readonly systemPrompt: string | undefined
  readonly allow: ReadonlySet<ToolGroup>
  /** `allow`: the groups in `allow` and all tools of `servers` are granted, anything else is refused. `ask`: reading is
   *  granted, what else is in `allow` is asked about. `bypass`: nothing is checked. */
  readonly permissions: "allow" | "ask" | "bypass"
  /** Those it shall use, and of those that it is configured with itself `userServers`. */
  readonly servers: readonly CliServer[]
  readonly userServers: readonly string[]
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>
  /** How long a turn may take, and how long nothing may come. */
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
  /** Tells what happens, in order. */
  report(step: Step): void
  /** Answers what the CLI asks, where `permissions` is "ask". Never rejects but by the signal. */
  approve(request: { id: string; name: string; input: Json }): Promise<"allow" | "always" | "deny">
  /** Takes what was said to the running model since it was last asked: by a provider that can steer, whenever a line comes. */
  takeSteering(): string[]
}

/** Anything that happens in a turn, as every CLI tells it in its own words. Ids of calls are unique in a conversation. `within` is
 *  the id of the call whose sub-agent this is about. `answer` names the model call that it is part of, where that is known. */
export type Step =
  | { type: "key"; key: string }
  /** The model it uses. */
  | { type: "model"; id: string }
  /** With `delta` a piece of it, shown while it comes; the whole follows without. */
  | { type: "text" | "reasoning"; text: string; delta?: true; answer?: string; within?: string }
  | { type: "call"; id: string; name: string; input: Json; answer?: string; within?: string }
  /** A call has started an agent of the CLI's own: what is `within` it follows. */
  | { type: "agent"; id: string; within?: string }
  /** The agent of a call whose result was `detached` has ended. */
  | { type: "agent-end"; id: string; ok: boolean; text: string }
  /** What a call under way has written. */
  | { type: "progress"; id: string; text: string; within?: string }
  /** With `detached` the call has only started an agent, which goes on until `agent-end`. */
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
  /** Files it has made or changed. */
  | { type: "files"; paths: string[] }
  /** What the turn has used by now, in all; for limits that must hold while it goes on. */
  | { type: "usage"; usage: Usage }
  | { type: "warning"; code: string; message: string }
  /** What the CLI itself said, word for word: JSON, or a text that is none. */
  | { type: "raw"; data: Json }

/** A CLI about to be started in a terminal. */
export interface TerminalLaunch {
  /** Where `allow` has every group, nothing is restricted. With "ask" the CLI asks the person itself. */
  readonly settings: TurnSettings
  /** What is said to it first. */
  readonly prompt: string | undefined
  /** The conversation to go on with. */
  readonly key: string | undefined
  /** For files: private, and gone afterwards. */
  readonly folder: string
}

export interface TerminalCommand {
  args: readonly string[]
  env?: Readonly<Record<string, string>> | undefined
  /** What its conversation is resumed by, where that is known from the start. */
  key?: string | undefined
  /** How it names the conversation when it ends, the key as the first group. This counts, for the person may have begun another. */
  resumeHint?: RegExp | undefined
  /** Ends what was opened for it. */
  close?: (() => Promise<void>) | undefined
}

/** How a turn ended. */
export interface TurnResult {
  /** Default: the last text that was told. */
  output?: string | undefined
  /** Of this turn alone. */
  usage: Usage
  failure?: ProviderError | undefined
}
