// Reads a trajectory from a file, the folder of a session, or a store of sessions and durable runs.
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import type { AgentEvent } from "../../core/event.ts"
import { type Trajectory, trajectory } from "../../core/trajectory.ts"
import { runKeys } from "../../engine/checkpoint.ts"
import { checkEvent } from "../../sessions/archive-checks.ts"
import { loadSession } from "../../sessions/load-session.ts"
import { sessionTrajectory } from "../../sessions/session.ts"
import type { Store } from "../../stores/store.ts"
import { loadProjectConfig } from "../project-config.ts"
import { findSession } from "../run/find-session.ts"
import { openExistingSessionPlace } from "../run/session-store.ts"
import { UsageError } from "../usage-error.ts"

/** `wanted` is a path, or names a session or a durable run in the store. */
export async function loadTrajectory(wanted: string, store: string | undefined): Promise<Trajectory> {
  const found = await stat(wanted).catch(() => undefined)
  if (found?.isFile() && wanted.endsWith(".jsonl")) return trajectory(await readEvents(wanted))
  // A copy of a session's folder, as tests keep it, is in no archive.
  const eventsFile = join(wanted, "events.jsonl")
  if (found?.isDirectory() && (await stat(eventsFile).catch(() => undefined))) {
    return trajectory(await readEvents(eventsFile))
  }
  if (found) return (await loadSession(wanted)).trajectory()
  if (/[\\/]|\.jsonl?$/.test(wanted)) throw new UsageError(`There is no file ${wanted}.`)
  const place = openExistingSessionPlace(store, await loadProjectConfig(undefined))
  try {
    const run = typeof place.source === "object" ? await readRun(place.source, wanted) : undefined
    if (run) return trajectory(run)
    const { record, events } = await findSession(place.source, wanted)
    return sessionTrajectory(record.id, events, record.completedAt)
  } finally {
    await place.close()
  }
}

/** The events of a durable run so far; undefined if the store has no such run. */
async function readRun(store: Store, id: string): Promise<AgentEvent[] | undefined> {
  const keys = runKeys(id)
  if (!(await store.get(keys.head))) {
    if (/^run_/.test(id)) throw new UsageError(`There is no session or run "${id}" in the store. See: karst runs list`)
    return undefined
  }
  const items = await Array.fromAsync(store.read(keys.events))
  return items.map((item, index) => checkEvent(item, index, `run "${id}"`))
}

async function readEvents(path: string): Promise<AgentEvent[]> {
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line.trim() !== "")
  return lines.map((line, index) => checkEvent(parseLine(line, index, path), index, `"${path}"`))
}

function parseLine(line: string, index: number, path: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new UsageError(`Line ${index + 1} of ${path} is no JSON. Write the file with karst run --json.`)
  }
}
