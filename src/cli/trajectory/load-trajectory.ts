// Reads a trajectory from a file, the folder of a session, or a store of sessions and durable runs.
import { constants, existsSync } from "node:fs"
import { open, stat } from "node:fs/promises"
import { join } from "node:path"
import { attempt } from "../../core/attempt.ts"
import type { AgentEvent } from "../../core/event.ts"
import { readRegularFile } from "../../core/read-regular-file.ts"
import { type Trajectory, trajectory } from "../../core/trajectory.ts"
import { runKeys } from "../../engine/checkpoint.ts"
import { checkEvent, isEvent } from "../../sessions/archive-checks.ts"
import { loadSession } from "../../sessions/load-session.ts"
import { sessionTrajectory } from "../../sessions/session.ts"
import type { Store } from "../../stores/store.ts"
import { loadProjectConfig } from "../project-config.ts"
import { findSession } from "../run/find-session.ts"
import { openExistingSessionPlace } from "../run/session-store.ts"
import { quoteShellWord } from "../shell-words.ts"
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
  if (found) {
    await refuseArchives(wanted, found.isDirectory())
    return (await loadSession(wanted)).trajectory()
  }
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

/** Throws for a folder or a store of sessions: it is named by an option, and the session by its id. */
async function refuseArchives(path: string, isFolder: boolean): Promise<void> {
  if (!isFolder) {
    if (!(await isSqliteFile(path))) return
    throw new UsageError(
      `${path} is a store. Name a session or a run in it: karst trajectory show <id> --store sqlite:${quoteShellWord(path)}`,
    )
  }
  const files = ["session.json", "trajectory.json"].map((name) => join(path, name))
  if (files.some((file) => existsSync(file))) return
  throw new UsageError(
    `${path} is not the folder of one session. If sessions are stored in it, name one: karst trajectory show <id> --store ${quoteShellWord(path)}`,
  )
}

async function isSqliteFile(path: string): Promise<boolean> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (!(await file.stat()).isFile()) return false
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16)
  return buffer.toString("latin1", 0, bytesRead) === "SQLite format 3\0"
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

// A longer text is more than one string of JavaScript can hold.
const maxEventsBytes = 500_000_000

async function readEvents(path: string): Promise<AgentEvent[]> {
  const found = await readRegularFile(path, maxEventsBytes)
  if ("problem" in found) throw new UsageError(`${path} ${found.problem}.`)
  const lines = found.bytes.toString("utf8").split("\n")
  const events = lines.flatMap((line, index) => (line.trim() === "" ? [] : [parseEvent(line, index, path)]))
  if (events.length === 0) throw new UsageError(`${path} contains no events. ${eventsCure}`)
  return events
}

function parseEvent(line: string, index: number, path: string): AgentEvent {
  const event = attempt((): unknown => JSON.parse(line))
  if (isEvent(event)) return event as AgentEvent
  const problem = event === undefined ? "is no JSON" : "is no event of a run"
  throw new UsageError(`Line ${index + 1} of ${path} ${problem}. ${eventsCure}`)
}

const eventsCure = "`karst run --json` writes such a file."
