// `karst worker`: executes the runs of a store until it is stopped.
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { loadAgents } from "../../config/agents/load-agents.ts"
import type { Agent } from "../../core/agent.ts"
import { AgentError } from "../../core/errors.ts"
import { createEngine, type Engine } from "../../engine/engine.ts"
import type { Input } from "../command.ts"
import { endSignal } from "../end-signal.ts"
import { printNotice } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { printDiagnostics } from "../run/print-diagnostics.ts"
import { loadAgentModule } from "../run/user-agent.ts"
import { openBackend, openStore, type QueueKind, queueKind } from "../store-option.ts"
import type { workerOptions } from "../table/worker.ts"
import { UsageError } from "../usage-error.ts"

export async function workerCommand({ values }: Input<typeof workerOptions>): Promise<number> {
  const { "max-parallel": maxParallel = 4 } = values
  const kind = queueKind(values)
  const backend = openBackend(kind, values)
  await using loaded = await loadWorkerAgents(values.agents)
  const { agents } = loaded
  await using store = openStore(values.store, values.prefix)
  await using engine = createEngine({ agents, store, backend })
  const end = endSignal()
  await engine.work({ maxParallel })
  printNotice(`working for ${Object.keys(agents).join(", ")}. Ctrl-C ends it after the cycles under way.`)
  await recoverUntilEnd(engine, kind, end)
  printNotice("ending.")
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
      if (reported !== error.message) printNotice(`${error.message} Waiting for it.`)
      reported = error.message
    }
  }
}

interface WorkerAgents extends AsyncDisposable {
  agents: Readonly<Record<string, Agent>>
}

/** The agents of a module, or those of the configuration. */
async function loadWorkerAgents(path: string | undefined): Promise<WorkerAgents> {
  if (path !== undefined) return { agents: await loadAgentModule(path, "--agents"), async [Symbol.asyncDispose]() {} }
  const loaded = await loadAgents({ config: await loadProjectConfig(undefined) })
  const errors = loaded.diagnostics().filter(({ severity }) => severity === "error")
  printDiagnostics(errors)
  if (Object.keys(loaded.agents).length > 0) return loaded
  await loaded.close()
  throw new UsageError(
    "Say which agents to work for: --agents ./agents.ts, or define agents in the configuration (karst config path).",
  )
}
