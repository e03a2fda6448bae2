// Loads a stored session for reading.
import { stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { Session } from "../core/agent.ts"
import { attempt } from "../core/attempt.ts"
import { isListOf } from "../core/checks/check-shape.ts"
import { isMessageList } from "../core/checks/message-shape.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import { isRecord } from "../core/object.ts"
import { readRegularFile } from "../core/read-regular-file.ts"
import type { Trajectory } from "../core/trajectory.ts"
import { isEvent } from "./archive-checks.ts"
import { readCawTrajectory } from "./caw-trajectory.ts"
import { nameOfPath } from "./folder/file-names.ts"
import { refuseForeignArchive } from "./handle-trust.ts"
import { saveTrajectory, sessionTrajectory } from "./session.ts"
import { type ArchiveSource, readSession, withArchive } from "./session-archive.ts"
import { parseSessionHandle, sessionHandle } from "./session-handle.ts"

/** Loads a session from an archive by its id, or from its handle, its own folder, a file that `session.save` wrote, or
 *  a trajectory or session folder of caw. Nothing can be sent to it. */
export async function loadSession(source: ArchiveSource, id?: string): Promise<Session> {
  const { record, folder, directory } = await locateAndLoad(source, id)
  const session = record.session ?? "unknown"
  const refuse = (): never => {
    throw new AgentError(
      `Session ${session} was loaded to be read. Go on with it by agent.session({ resume, archive }).`,
      { code: "read-only" },
    )
  }
  return {
    id: session,
    handle: sessionHandle(session, folder),
    directory,
    runtime: undefined,
    running: undefined,
    lastRun: undefined,
    pending: [],
    send: refuse,
    followUp: refuse,
    continueQueue: refuse,
    clearQueue: refuse,
    steer: refuse,
    messages: () => structuredClone(record.messages),
    trajectory: () => structuredClone(record),
    save: (path) => saveTrajectory(path, record),
    close: async () => structuredClone(record),
    async [Symbol.asyncDispose]() {},
  }
}

interface LoadedSession {
  record: Trajectory
  folder?: string | undefined
  directory?: string | undefined
}

async function locateAndLoad(source: ArchiveSource, id: string | undefined): Promise<LoadedSession> {
  if (id !== undefined) return await loadFromArchive(source, parseSessionHandle(id).id)
  if (typeof source !== "string") throw new ConfigError("loadSession: a store needs the id of a session as well.")
  const { id: named, folder } = parseSessionHandle(source)
  if (folder !== undefined) {
    refuseForeignArchive(folder, named)
    return await loadFromArchive(folder, named)
  }
  const found = await stat(source).catch(() => undefined)
  if (!found)
    throw new ConfigError(
      `There is no file or folder "${source}". Name a session by its folder, a file of session.save(path), or its handle.`,
    )
  if (!found.isDirectory()) return { record: await readTrajectory(source) }
  const parent = dirname(source)
  const isSession = basename(parent) === "sessions" && (await stat(join(source, "session.json")).catch(() => undefined))
  const ofCaw = join(source, "trajectory.json")
  if (!isSession && (await stat(ofCaw).catch(() => undefined))) return { record: await readTrajectory(ofCaw) }
  if (isSession) return await loadFromArchive(dirname(parent), nameOfPath(basename(source)) ?? basename(source))
  throw new ConfigError(
    `"${source}" is not the folder of one session, which contains a session.json. If it is an archive, give the id of a session as well.`,
  )
}

async function loadFromArchive(source: ArchiveSource, id: string): Promise<LoadedSession> {
  return await withArchive(source, async (archive) => {
    const { record, events } = await readSession(archive, id)
    const trajectory = sessionTrajectory(id, events, record.completedAt)
    return { record: trajectory, folder: archive.folder, directory: archive.directory(id) }
  })
}

async function readTrajectory(path: string): Promise<Trajectory> {
  const found = await readRegularFile(path, maxTrajectoryBytes)
  if ("problem" in found) throw new ConfigError(`"${path}" ${found.problem}.`)
  const read = attempt((): { value: unknown } => ({ value: JSON.parse(found.bytes.toString("utf8")) }))
  const record = read && attempt(() => (isTrajectory(read.value) ? read.value : readCawTrajectory(read.value)))
  if (record) return record
  const problem =
    found.bytes.length === 0 ? "is empty" : read ? "is no trajectory of version 1, and none of caw" : "is no JSON"
  throw new ConfigError(
    `"${path}" ${problem}. A trajectory is a file that \`session.save(path)\` or \`karst sessions export\` wrote.`,
  )
}

// A longer text is more than one string of JavaScript can hold.
const maxTrajectoryBytes = 500_000_000

function isTrajectory(value: unknown): value is Trajectory {
  return isRecord(value) && value.version === 1 && isListOf(isEvent)(value.events) && isMessageList(value.messages)
}
