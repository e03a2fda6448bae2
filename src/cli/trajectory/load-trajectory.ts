// Reads a trajectory from a file, the folder of a session, or a store of sessions.
import { readFile, stat } from "node:fs/promises"
import type { AgentEvent } from "../../core/event.ts"
import { type Trajectory, trajectory } from "../../core/trajectory.ts"
import { checkEvent } from "../../sessions/archive-checks.ts"
import { loadSession } from "../../sessions/load-session.ts"
import { sessionTrajectory } from "../../sessions/session.ts"
import { loadProjectConfig } from "../project-config.ts"
import { findSession } from "../run/find-session.ts"
import { openSessionPlace } from "../run/session-store.ts"
import { UsageError } from "../usage-error.ts"

/** `wanted` is a path, or what names a session in the store. */
export async function loadTrajectory(wanted: string, store: string | undefined): Promise<Trajectory> {
  const found = await stat(wanted).catch(() => undefined)
  if (found?.isFile() && wanted.endsWith(".jsonl")) return trajectory(await readEvents(wanted))
  if (found) return (await loadSession(wanted)).trajectory()
  if (/[\\/]|\.jsonl?$/.test(wanted)) throw new UsageError(`There is no file ${wanted}.`)
  const place = openSessionPlace(store, await loadProjectConfig(undefined))
  try {
    const { record, events } = await findSession(place.source, wanted)
    return sessionTrajectory(record.id, events, record.completedAt)
  } finally {
    await place.close()
  }
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
