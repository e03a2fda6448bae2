// `karst worker`: executes the runs of a store until it is stopped.
import { once } from "node:events"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { setTimeout } from "node:timers/promises"
import { importModule } from "../../config/import-module.ts"
import type { Agent } from "../../core/agent.ts"
import { AgentError } from "../../core/errors.ts"
import { createEngine, type Engine } from "../../engine/engine.ts"
import type { Input } from "../command.ts"
import { endSignal } from "../end-signal.ts"
import { openBackend, openStore, type QueueKind, queueKind } from "../store-option.ts"
import type { workerOptions } from "../table/stored.ts"
import { UsageError } from "../usage-error.ts"

export async function workerCommand({ values }: Input<typeof workerOptions>): Promise<number> {
  const { "max-parallel": maxParallel = 4 } = values
  const kind = queueKind(values)
  const backend = openBackend(kind, values)
  const agents = await loadAgents(values.agents)
  await using store = openStore(values.store, values.prefix)
  await using engine = createEngine({ agents, store, backend })
  const end = endSignal()
  await engine.work({ maxParallel })
  process.stderr.write(
    `karst: working for ${Object.keys(agents).join(", ")}. Ctrl-C ends it after the cycles under way.\n`,
  )
  await recoverUntilEnd(engine, kind, end)
  process.stderr.write("karst: ending.\n")
  return 0
}

/** Recovers runs that have no job, then waits for the end. A queue announces all later jobs; a plain store is polled
 *  every second, also while it is temporarily unavailable. */
async function recoverUntilEnd(engine: Engine, kind: QueueKind, end: AbortSignal): Promise<void> {
  let reported: string | undefined
  await engine.recover()
  if (kind === "bullmq" && !end.aborted) await once(end, "abort")
  while (!end.aborted) {
    await setTimeout(1_000, undefined, { signal: end }).catch(() => undefined)
    try {
      if (!end.aborted) await engine.recover()
      reported = undefined
    } catch (error) {
      if (!(error instanceof AgentError) || !error.retryable) throw error
      if (reported !== error.message) process.stderr.write(`karst: ${error.message} Waiting for it.\n`)
      reported = error.message
    }
  }
}

/** Returns agents by name: from the export `agents`, the default export, or the single exports. */
async function loadAgents(path: string | undefined): Promise<Record<string, Agent>> {
  if (path === undefined) throw new UsageError("Say which agents to work for: --agents ./agents.ts")
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`--agents: there is no file ${path}.`)
  const exported = await importModule(file, `--agents: ${path}`)
  const candidates = [exported.agents, exported.default, exported]
  const found = candidates.map(agentsIn).find((agents) => Object.keys(agents).length > 0)
  if (found) return found
  throw new UsageError(
    `--agents: ${path} exports no agent. Write there: export const agents = { name: createAgent(…) }`,
  )
}

function agentsIn(value: unknown): Record<string, Agent> {
  if (typeof value !== "object" || value === null) return {}
  const entries = Object.entries(value).filter((entry): entry is [string, Agent] => isAgent(entry[1]))
  return Object.fromEntries(entries)
}

function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false
  return ["run", "session", "describe", "with"].every((name) => typeof Reflect.get(value, name) === "function")
}
