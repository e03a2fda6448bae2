// `karst worker`: executes the runs of a store until it is stopped.
import { once } from "node:events"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { setTimeout } from "node:timers/promises"
import { importModule } from "../config/import-module.ts"
import type { Agent } from "../core/agent.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import type { Backend } from "../engine/backends/backend.ts"
import { bullmqBackend } from "../engine/backends/bullmq.ts"
import { inlineBackend } from "../engine/backends/inline.ts"
import { createEngine, type Engine } from "../engine/engine.ts"
import { redisStore } from "../stores/redis-store.ts"
import { sqliteStore } from "../stores/sqlite-store.ts"
import type { Store } from "../stores/store.ts"
import { parseArguments, parsePositiveInteger } from "./arguments.ts"
import { endSignal } from "./end-signal.ts"
import { UsageError } from "./usage-error.ts"

export async function workerCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArguments("worker", args, {
    agents: { type: "string" },
    store: { type: "string" },
    backend: { type: "string" },
    redis: { type: "string" },
    queue: { type: "string" },
    prefix: { type: "string" },
    "max-parallel": { type: "string" },
  })
  if (positionals.length > 0) throw new UsageError("karst worker takes no prompt: it works on the runs of a store.")
  const maxParallel = parsePositiveInteger("--max-parallel", values["max-parallel"]) ?? 4
  const kind = backendKind(values.backend, values.store)
  const backend = openBackend(kind, values)
  const agents = await loadAgents(values.agents)
  await using store = openStore(values.store, values.prefix)
  await using engine = createEngine({ agents, store, backend })
  const end = endSignal()
  try {
    await engine.work({ maxParallel })
    process.stderr.write(
      `karst: working for ${Object.keys(agents).join(", ")}. Ctrl-C ends it after the cycles under way.\n`,
    )
    await recoverUntilEnd(engine, kind, end)
  } catch (error) {
    if (!(error instanceof AgentError) || error instanceof ConfigError) throw error
    process.stderr.write(`karst: ${error.message}\n`)
    return 1
  }
  process.stderr.write("karst: ending.\n")
  return 0
}

type BackendKind = "bullmq" | "inline"

function backendKind(text: string | undefined, store: string | undefined): BackendKind {
  const kind = text ?? (isRedis(store) ? "bullmq" : "inline")
  if (kind === "bullmq" || kind === "inline") return kind
  throw new UsageError(`--backend: "${kind}" is not one of bullmq, inline.`)
}

interface Locations {
  store?: string | undefined
  redis?: string | undefined
  queue?: string | undefined
  prefix?: string | undefined
}

function openBackend(kind: BackendKind, { store, redis, queue, prefix }: Locations): Backend {
  if (kind === "inline") return inlineBackend()
  const url = redis ?? (isRedis(store) ? store : undefined)
  if (!url) throw new UsageError("--backend bullmq needs to know where Redis is: --redis redis://localhost:6379")
  return bullmqBackend({ url, queue, prefix })
}

function openStore(text: string | undefined, prefix: string | undefined): Store {
  if (isRedis(text)) return redisStore(text, { prefix })
  const [, path] = /^sqlite:(.+)$/.exec(text ?? "") ?? []
  if (path) return sqliteStore(path)
  throw new UsageError(
    `--store: ${text === undefined ? "there is none" : `"${text}" is not a store`}. Say redis://host:6379 or sqlite:karst.db.`,
  )
}

function isRedis(text: string | undefined): text is string {
  return /^rediss?:\/\//.test(text ?? "")
}

/** Recovers runs that have no job, then waits for the end. A queue announces all later jobs; a plain store is polled
 *  every second, also while it is temporarily unavailable. */
async function recoverUntilEnd(engine: Engine, kind: BackendKind, end: AbortSignal): Promise<void> {
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
