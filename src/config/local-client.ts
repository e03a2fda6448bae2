// createLocalClient: runs agents of the configuration by their names. A remote client can have the same shape: names
// and JSON go in, runs and sessions come out.
import { resolve } from "node:path"
import type { Agent, Run, RunOptions, RunResult, Session, SessionOptions } from "../core/agent.ts"
import * as check from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import type { Prompt } from "../core/message.ts"
import { withoutUndefined } from "../core/object.ts"
import type { ArchiveOptions } from "../sessions/session-archive.ts"
import {
  type AgentInfo,
  type AgentRegistry,
  type LoadAgentsOptions,
  loadAgentsChecks,
  loadRegistry,
} from "./agents/load-agents.ts"
import { definitionProblems } from "./config-checks.ts"
import type { AgentDefinition, Config } from "./define-config.ts"
import type { Diagnostic } from "./diagnostics.ts"
import type { LoadedConfig } from "./load-config.ts"
import { withAbsoluteDefinition } from "./merge-config.ts"
import { createNamedArchive } from "./named-archive.ts"

export interface LocalClientOptions extends LoadAgentsOptions {
  /** More agents. They replace agents of the configuration and discovered ones with the same names. */
  agents?: Config["agents"]
}

const clientChecks: check.OptionChecks<LocalClientOptions> = { ...loadAgentsChecks, agents: check.mustBeObject }

/** Which agent, and with which model. */
export interface AgentChoice {
  /** The name of an agent, or an agent of its own by its definition. Default: `agent` of the configuration, or the only
   *  agent. */
  agent?: string | AgentDefinition | undefined
  /** A name in `models`, or an id, instead of the agent's model. */
  model?: string | undefined
}

export interface ClientRunOptions
  extends AgentChoice,
    Pick<RunOptions, "signal" | "limits" | "metadata" | "instructions" | "onEvent"> {}

export interface ClientSessionOptions
  extends AgentChoice,
    Pick<SessionOptions, "signal" | "limits" | "metadata" | "instructions" | "onEvent">,
    Pick<ArchiveOptions, "archive" | "id" | "resume"> {}

const runChecks: check.OptionChecks<ClientRunOptions> = {
  agent: check.mustBeEither("a name or a definition", check.mustBeText, check.mustBeObject),
  model: check.mustBeText,
  signal: check.mustBeSignal,
  limits: check.mustBeOptions(limitChecks),
  metadata: check.mustBeMetadata,
  instructions: check.mustBeText,
  onEvent: check.mustBeFunction,
}

const sessionChecks: check.OptionChecks<ClientSessionOptions> = {
  ...runChecks,
  archive: check.anything,
  id: check.mustBeText,
  resume: check.mustBeText,
}

/** Runs agents by name in this process. */
export interface LocalClient extends AsyncDisposable {
  /** The agents, sorted by name. */
  agents(): AgentInfo[]
  /** Starts a run. Throws if there is no such agent or if it has a mistake. */
  run(prompt: Prompt, options?: ClientRunOptions): Run
  /** Runs to the end and returns the answer. Throws unless the run is done: if it failed, was aborted, was stopped by a
   *  limit, or waits for an answer or an approval. */
  ask(prompt: Prompt, options?: ClientRunOptions): Promise<string>
  /** Opens a session, which is stored in `archive` of the configuration if there is one. `id` is your own name for it;
   *  `resume` continues a session by its handle or id. */
  session(options?: ClientSessionOptions): Promise<Session>
  /** Every problem with resources, agents and MCP servers. */
  diagnostics(): readonly Diagnostic[]
  /** The configuration with the origin of each value. */
  readonly config: LoadedConfig
  /** Ends the MCP servers that were started, and closes the store that `archive` of the configuration names. Runs and
   *  sessions are not ended: close sessions before. */
  close(): Promise<void>
}

/** Loads the configuration once and returns a client of its agents. */
export async function createLocalClient(options: LocalClientOptions = {}): Promise<LocalClient> {
  check.checkOptions("createLocalClient()", options, clientChecks)
  const { agents, overrides, config, ...rest } = options
  const cwd = resolve(options.cwd ?? ".")
  if (agents && typeof config === "object" && "originOf" in config)
    throw new ConfigError("createLocalClient(): give `agents` to loadConfig() as overrides, or a path as `config`.")
  const registry = await loadRegistry({
    ...rest,
    config,
    overrides: agents ? { ...overrides, agents: { ...overrides?.agents, ...agents } } : overrides,
  })

  const archived = createNamedArchive(registry.config.config.archive)
  const close = async () => {
    await registry.close()
    await archived.close()
  }

  function start(use: string, prompt: Prompt, runOptions: ClientRunOptions): { name: string; run: Run } {
    check.checkOptions(use, runOptions, runChecks)
    const { agent: choice, model, ...changes } = runOptions
    const { name, agent } = chooseAgent(registry, { agent: choice, model }, cwd)
    return { name, run: agent.run(prompt, changes) }
  }

  return {
    agents: registry.list,
    run: (prompt, runOptions = {}) => start("client.run()", prompt, runOptions).run,
    async ask(prompt, runOptions = {}) {
      const { name, run } = start("client.ask()", prompt, runOptions)
      const result = await run
      if (result.status === "done") return result.output
      throw notDoneError(name, result)
    },
    async session(sessionOptions = {}) {
      check.checkOptions("client.session()", sessionOptions, sessionChecks)
      const { agent: choice, model, archive = archived.source(), ...changes } = sessionOptions
      const { agent } = chooseAgent(registry, { agent: choice, model }, cwd)
      const opening: SessionOptions & ArchiveOptions = { ...changes, ...withoutUndefined({ archive }) }
      return agent.session(opening)
    },
    diagnostics: registry.diagnostics,
    config: registry.config,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** An inline definition, else the named agent, else the default one. */
function chooseAgent(
  registry: AgentRegistry,
  { agent: choice, model }: AgentChoice,
  cwd: string,
): { name: string; agent: Agent } {
  if (typeof choice === "object") {
    const problems = definitionProblems(choice, "agent")
    if (problems.length > 0) throw new ConfigError(`${problems.join("; ")}.`)
    const definition = withAbsoluteDefinition(choice, cwd)
    return { name: inlineName, agent: registry.define(inlineName, { ...definition, ...withoutUndefined({ model }) }) }
  }
  const { name, agent, withModel } = registry.find(choice)
  return { name, agent: model === undefined ? agent() : withModel(model) }
}

const inlineName = "agent"

function notDoneError(name: string, { id, status, reason, pending, detail }: RunResult): AgentError {
  const why = notDoneText(status, reason, pending, detail)
  return new AgentError(
    `The agent "${name}" gave no answer: ${why} run() returns such a result, and session() continues it.`,
    {
      code: "not-done",
      details: { run: id, status, ...(reason !== undefined && { reason }) },
    },
  )
}

function notDoneText(
  status: RunResult["status"],
  reason: RunResult["reason"],
  pending: RunResult["pending"],
  detail: RunResult["detail"],
): string {
  if (pending?.kind === "question") return `it asks "${pending.question}".`
  if (pending?.kind === "approval") return `it waits for the approval of ${pending.call.binding}.`
  const why = [reason, detail].filter((each) => each !== undefined).join(": ")
  return `the run is ${status}${why === "" ? "" : ` (${why})`}.`
}
