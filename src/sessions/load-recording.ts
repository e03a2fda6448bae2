import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { checkEvent } from "./archive-checks.ts"
import { committedLength } from "./folder/session-file.ts"
import { refuseForeignArchive } from "./handle-trust.ts"
import type { RecordingEntry } from "./recording-journal.ts"
import { type ArchiveSource, readRecording, readSession, withArchive } from "./session-archive.ts"
import { parseSessionHandle } from "./session-handle.ts"

/** What was recorded of a session: what happened, and all that came from outside. */
export interface Recording {
  events: AgentEvent[]
  entries: RecordingEntry[]
}

/** Where a recording is: the folder of an archived session, or a copy of it; a session's handle; or an archive and an id. */
export type RecordingSource = string | { archive: ArchiveSource; id: string }

export async function loadRecording(source: RecordingSource): Promise<Recording> {
  const place = typeof source === "string" ? parseSessionHandle(source) : { folder: source.archive, id: source.id }
  const { folder, id } = place
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
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new ConfigError(
      `The recording has no "${path}". Give the folder of an archived session, session.directory, or a copy of it.`,
      { cause },
    )
  })
  const lines = String(bytes.subarray(0, await committedLength(folder, log))).split("\n")
  return lines.flatMap((line, index) => {
    try {
      return line.trim() === "" ? [] : [JSON.parse(line)]
    } catch (cause) {
      // A last line that was cut off never was.
      if (index === lines.length - 1) return []
      throw new ConfigError(`Line ${index + 1} of "${path}" is no JSON: take the file from its archive again.`, {
        cause,
      })
    }
  })
}
