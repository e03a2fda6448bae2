import { types } from "node:util"
import type { Agent, LiveObjects, Run, RunResult } from "../../core/agent.ts"
import { ConfigError } from "../../core/errors.ts"
import type { Pending, Status, StopReason } from "../../core/event.ts"
import type { Prompt } from "../../core/message.ts"
import { type AnyFunction, type CallOptions, isAgent } from "../bindings.ts"

/** An agent as cells see it: less than its owner has, plain data back, and a failure is told and not thrown. What a cell
 *  can say of a run is what its owner can trust it with: no other model, limits or approver. */
export interface CellAgent {
  readonly name: string
  readonly description?: string | undefined
  /** Gives it a task and waits for the end. Throws only where there was no run: a wrong option, or too deep a nesting. */
  run(prompt: Prompt, options?: CellRunOptions): Promise<AgentReply>
  /** Several tasks, at most `concurrency` at a time; the replies are in the order of the tasks. */
  runAll(tasks: readonly (Prompt | CellTask)[], options?: { concurrency?: number | undefined }): Promise<AgentReply[]>
  /** Absent where each run has a runtime of its own. */
  readonly runtime?: LiveObjects | undefined
}

export interface CellRunOptions {
  /** New values for names of its runtime, before it begins. */
  values?: Record<string, unknown> | undefined
  /** JSON Schemas of variables that it must fill; they come back as `objects`. */
  outputs?: Record<string, unknown> | undefined
}

export interface CellTask extends CellRunOptions {
  prompt: Prompt
}

/** What a run of an agent came to, for the cell that asked for it. */
export interface AgentReply {
  status: Status
  /** What it says. */
  output: string
  /** The limit that stopped it. */
  reason?: StopReason
  /** What it waits for. */
  pending?: Pending
  /** Why it failed. */
  error?: string
  /** The outputs that were asked for. */
  objects?: Record<string, unknown>
}

/** How a member is called from cells: by its path, such as `runtime.update`. */
export type GateMember = (path: string, call: AnyFunction) => AnyFunction

/** Makes what cells get to see of an agent; each member passes `gated`. */
export function createCellAgent(agent: object, gated: GateMember = (_path, call) => call): CellAgent {
  // What counts as an agent has the members of one.
  const { name, description, runtime, run } = agent as Agent
  const start = (task: CellTask) => waitForReply(run.call(agent, checkPrompt(task.prompt), runOptions(task)))
  const members: CellAgent = {
    name,
    ...(description !== undefined && { description }),
    run: gated("run", (prompt: Prompt, options: CellRunOptions = {}) =>
      start({ ...checkOptionNames("run", options, optionNames), prompt }),
    ) as CellAgent["run"],
    runAll: gated("runAll", async (tasks: readonly (Prompt | CellTask)[], options: object = {}) => {
      const { concurrency = 4 } = checkOptionNames<{ concurrency?: number }>("runAll", options, ["concurrency"])
      return mapConcurrently(parseTasks(tasks, concurrency, runtime !== undefined), concurrency, start)
    }) as CellAgent["runAll"],
    ...(runtime && { runtime: createLiveObjects(name, runtime, gated) }),
  }
  cellAgents.add(members)
  return Object.freeze(members)
}

const cellAgents = new WeakSet<object>()

/** What holds for calls of an agent, and of its runtime, as cells see them: what its runs do is recorded call by call, not
 *  as one call. Undefined for anything else. */
export function agentCallOptions(value: unknown): CallOptions | undefined {
  if (typeof value !== "object" || value === null) return undefined
  return cellAgents.has(value) || runtimeInfos.has(value) ? { journal: false } : undefined
}

/** What another process gets to see of an object of the host: of an agent the same as cells do, where whoever passes a call
 *  on passes the gate; anything else as it is. */
export function viewForOtherProcess(value: object): object {
  const known = viewsByObject.get(value)
  if (known) return known
  if (types.isProxy(value) || !isAgent(value)) return value
  const shown = createCellAgent(value)
  viewsByObject.set(value, shown)
  return shown
}

const viewsByObject = new WeakMap<object, object>()

/** The runtime of an agent as cells see it: what its calls are told by, and its language. Undefined for anything else. */
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
  // A runtime that was made for the run ends with it: no cell could reach it.
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

function parseTasks(given: unknown, concurrency: unknown, shared: boolean): CellTask[] {
  if (!Array.isArray(given)) throw new TypeError("runAll(tasks): tasks is a list of prompts, or of { prompt, values }.")
  if (!Number.isInteger(concurrency) || Number(concurrency) < 1) {
    throw new TypeError(`runAll: concurrency is a whole number of at least 1, not ${String(concurrency)}.`)
  }
  const tasks = given.map((task: Prompt | CellTask): CellTask => {
    if (typeof task === "string" || Array.isArray(task)) return { prompt: task as Prompt }
    return checkOptionNames<CellTask>("runAll", task, ["prompt", ...optionNames])
  })
  if (shared && Number(concurrency) > 1 && tasks.some(({ values }) => values)) {
    throw new ConfigError(
      "runAll: the runs of this agent share one runtime, where the values of one would replace those of another. " +
        "Say { concurrency: 1 }, or give the agent a factory: createAgent({ runtime: () => jsRuntime(…) }).",
    )
  }
  return tasks
}

function checkOptionNames<T extends object>(use: string, options: T | null, names: readonly string[]): T {
  const unknown = Object.keys(options ?? {}).filter((name) => !names.includes(name))
  if (unknown.length === 0) return (options ?? {}) as T
  throw new TypeError(`${use}: unknown option ${unknown.join(", ")}. There is ${names.join(", ")}.`)
}

// The first task that cannot be run at all ends the batch; what a run comes to never does.
async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const left = items.entries()
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  return results
}
