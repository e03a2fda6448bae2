// An agent as cells see it: `run` and `runAll` return plain data, and a failed run is a reply and not an exception.
import { types } from "node:util"
import type { Agent, LiveObjects, Run, RunResult } from "../../core/agent.ts"
import { ConfigError } from "../../core/errors.ts"
import type { Pending, Status, StopReason } from "../../core/event.ts"
import type { Prompt } from "../../core/message.ts"
import { mapConcurrently } from "../../core/serial.ts"
import { type AnyFunction, type CallOptions, isAgent } from "../bindings.ts"

/** An agent as cells see it. A cell cannot choose the model, the limits or the approver of a run; only the owner of the
 *  agent can. */
export interface CellAgent {
  readonly name: string
  readonly description?: string | undefined
  /** Runs a task to its end. Throws only if no run was started: a wrong option, or agents nested too deeply. */
  run(prompt: Prompt, options?: CellRunOptions): Promise<AgentReply>
  /** Several tasks, at most `maxParallel` at a time; the replies are in the order of the tasks. */
  runAll(tasks: readonly (Prompt | CellTask)[], options?: { maxParallel?: number | undefined }): Promise<AgentReply[]>
  /** Absent if each run gets its own runtime. */
  readonly runtime?: LiveObjects | undefined
}

export interface CellRunOptions {
  /** New values for names of the agent's runtime, set before the run starts. */
  values?: Record<string, unknown> | undefined
  /** JSON Schemas of variables that the run must fill; they are returned as `objects`. */
  outputs?: Record<string, unknown> | undefined
}

export interface CellTask extends CellRunOptions {
  prompt: Prompt
}

/** The result of a run, for the cell that started it. */
export interface AgentReply {
  status: Status
  /** The final answer. */
  output: string
  /** The limit that stopped the run. */
  reason?: StopReason
  /** The approval or answer that the run waits for. */
  pending?: Pending
  /** Why the run failed. */
  error?: string
  /** The requested outputs. */
  objects?: Record<string, unknown>
}

/** Wraps a member so that its calls pass the call gate. `path` names the member, such as `runtime.update`. */
export type GateMember = (path: string, call: AnyFunction) => AnyFunction

export function createCellAgent(agent: object, gated: GateMember = (_path, call) => call): CellAgent {
  // `isAgent` has checked the members.
  const { name, description, runtime, run } = agent as Agent
  const runTask = (task: CellTask) => waitForReply(run.call(agent, checkPrompt(task.prompt), runOptions(task)))
  const cellAgent: CellAgent = {
    name,
    ...(description !== undefined && { description }),
    run: gated("run", (prompt: Prompt, options: CellRunOptions = {}) =>
      runTask({ ...checkOptionNames("run", options, optionNames), prompt }),
    ) as CellAgent["run"],
    runAll: gated("runAll", async (tasks: readonly (Prompt | CellTask)[], options: object = {}) => {
      const { maxParallel = 4 } = checkOptionNames<{ maxParallel?: number }>("runAll", options, ["maxParallel"])
      // A task that cannot be started ends the batch; a run that fails does not.
      return mapConcurrently(parseTasks(tasks, maxParallel, runtime !== undefined), maxParallel, runTask)
    }) as CellAgent["runAll"],
    ...(runtime && { runtime: createLiveObjects(name, runtime, gated) }),
  }
  cellAgents.add(cellAgent)
  return Object.freeze(cellAgent)
}

const cellAgents = new WeakSet<object>()

/** The call options of an agent, and of its runtime, as cells see them; undefined for any other value. The calls are
 *  not journaled, because the agent's runs record their own calls. */
export function agentCallOptions(value: unknown): CallOptions | undefined {
  if (typeof value !== "object" || value === null) return undefined
  return cellAgents.has(value) || runtimeInfos.has(value) ? { journal: false } : undefined
}

/** An object of the host as another process sees it: the restricted `CellAgent` of an agent, any other object itself.
 *  Calls from the other process pass the call gate on the host. */
export function viewForOtherProcess(value: object): object {
  const known = viewsByObject.get(value)
  if (known) return known
  if (types.isProxy(value) || !isAgent(value)) return value
  const shown = createCellAgent(value)
  viewsByObject.set(value, shown)
  return shown
}

const viewsByObject = new WeakMap<object, object>()

/** Title and language of an agent's runtime as cells see it; undefined for any other value. */
export function agentRuntimeInfo(value: object): { title: string; language: unknown } | undefined {
  return runtimeInfos.get(value)
}

const runtimeInfos = new WeakMap<object, { title: string; language: unknown }>()

function createLiveObjects(agent: string, runtime: LiveObjects, gated: GateMember): LiveObjects {
  const objects: LiveObjects = {
    update: gated("runtime.update", (values: Record<string, unknown>) =>
      runtime.update(values),
    ) as LiveObjects["update"],
    retrieve: gated("runtime.retrieve", (name: string) => runtime.retrieve(name)) as LiveObjects["retrieve"],
    describe: gated("runtime.describe", () => runtime.describe()) as LiveObjects["describe"],
  }
  runtimeInfos.set(objects, {
    title: `${agent}.runtime`,
    language: "language" in runtime ? runtime.language : undefined,
  })
  return Object.freeze(objects)
}

const optionNames = ["values", "outputs"]

function runOptions({ values, outputs }: CellTask): object {
  return { ...(values && { values }), ...(outputs && { outputs }) }
}

function checkPrompt(prompt: unknown): Prompt {
  if (typeof prompt === "string" || Array.isArray(prompt)) return prompt as Prompt
  throw new TypeError(`run(prompt): the prompt is a text, not ${prompt === null ? "null" : typeof prompt}.`)
}

async function waitForReply(started: Run): Promise<AgentReply> {
  // Closing the run closes a runtime that was made for it; no cell could reach that runtime.
  await using run = started
  const { status, output, reason, pending, error, objects }: RunResult = await run.settled
  return {
    status,
    output,
    ...(reason && { reason }),
    ...(pending && { pending }),
    ...(error && { error: `${error.name}: ${error.message}` }),
    ...(objects && { objects }),
  }
}

function parseTasks(given: unknown, maxParallel: unknown, shared: boolean): CellTask[] {
  if (!Array.isArray(given)) throw new TypeError("runAll(tasks): tasks is a list of prompts, or of { prompt, values }.")
  if (!Number.isInteger(maxParallel) || Number(maxParallel) < 1) {
    throw new TypeError(`runAll: maxParallel is a whole number of at least 1, not ${String(maxParallel)}.`)
  }
  const tasks = given.map((task: Prompt | CellTask): CellTask => {
    if (typeof task === "string" || Array.isArray(task)) return { prompt: task as Prompt }
    return checkOptionNames<CellTask>("runAll", task, ["prompt", ...optionNames])
  })
  if (shared && Number(maxParallel) > 1 && tasks.some(({ values }) => values)) {
    throw new ConfigError(
      "runAll: the runs of this agent share one runtime, where the values of one would replace those of another. " +
        "Say { maxParallel: 1 }, or give the agent a factory: createAgent({ runtime: () => jsRuntime(…) }).",
    )
  }
  return tasks
}

function checkOptionNames<T extends object>(use: string, options: T | null, names: readonly string[]): T {
  const unknown = Object.keys(options ?? {}).filter((name) => !names.includes(name))
  if (unknown.length === 0) return (options ?? {}) as T
  throw new TypeError(`${use}: unknown option ${unknown.join(", ")}. There is ${names.join(", ")}.`)
}
