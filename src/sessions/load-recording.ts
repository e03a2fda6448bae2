// Loads the recording of a session for a replay.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { readRegularFile } from "../core/read-regular-file.ts"
import { checkEvent } from "./archive-checks.ts"
import { committedLength } from "./folder/session-file.ts"
import { refuseForeignArchive } from "./handle-trust.ts"
import type { RecordingEntry } from "./recording-journal.ts"
import { type ArchiveSource, readRecording, readSession, withArchive } from "./session-archive.ts"
import { parseSessionHandle } from "./session-handle.ts"

// A longer text is more than one string of JavaScript can hold.
const maxRecordingBytes = 500_000_000

/** The recording of a session: its events, and the outcomes of everything outside its runs. */
export interface Recording {
  events: AgentEvent[]
  entries: RecordingEntry[]
}

/** A recording's location: the folder of an archived session or a copy of it, a session handle, or an archive and an
 *  id. */
export type RecordingSource = string | { archive: ArchiveSource; id: string }

export async function loadRecording(source: RecordingSource): Promise<Recording> {
  const located = typeof source === "string" ? parseSessionHandle(source) : { folder: source.archive, id: source.id }
  const { folder, id } = located
  if (typeof source === "string" && typeof folder === "string") refuseForeignArchive(folder, id)
  const recording = await (folder === undefined ? readFromFolder(id) : readFromArchive(folder, id))
  if (recording.entries.length > 0 || recording.events.length === 0) return recording
  throw new ConfigError(
    `Nothing was recorded of session "${id}": it was archived with recording: false, or without its recording.jsonl.`,
  )
}

function readFromArchive(source: ArchiveSource, id: string): Promise<Recording> {
  return withArchive(source, async (archive) => ({
    events: (await readSession(archive, id)).events,
    entries: await readRecording(archive, id),
  }))
}

async function readFromFolder(folder: string): Promise<Recording> {
  const lines = await readJsonLines(folder, "events")
  const events = lines.map((line, index) => checkEvent(line, index, `"${folder}"`))
  const hasRecording = existsSync(join(folder, "recording.jsonl"))
  return { events, entries: hasRecording ? ((await readJsonLines(folder, "recording")) as RecordingEntry[]) : [] }
}

async function readJsonLines(folder: string, log: string): Promise<unknown[]> {
  const path = join(folder, `${log}.jsonl`)
  const found = await readRegularFile(path, maxRecordingBytes)
  if ("problem" in found) {
    throw new ConfigError(
      `The recording cannot be read: "${path}" ${found.problem}. Give the folder of an archived session, ` +
        "session.directory, or a copy of it.",
    )
  }
  const lines = String(found.bytes.subarray(0, await committedLength(folder, log))).split("\n")
  return lines.flatMap((line, index) => {
    try {
      return line.trim() === "" ? [] : [JSON.parse(line)]
    } catch (cause) {
      // A last line that was cut off is ignored.
      if (index === lines.length - 1) return []
      throw new ConfigError(`Line ${index + 1} of "${path}" is no JSON: take the file from its archive again.`, {
        cause,
      })
    }
  })
}
