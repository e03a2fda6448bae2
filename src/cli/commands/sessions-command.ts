// `karst sessions list | show | export | delete`: stored sessions in a folder or a store.
import { replacePrivateFile } from "../../core/private-files.ts"
import { toAtif } from "../../sessions/atif.ts"
import { loadSession } from "../../sessions/load-session.ts"
import { type ArchiveSource, deleteSession, listSessions, sessionInfoOf } from "../../sessions/session-archive.ts"
import type { Input } from "../command.ts"
import { printEmptyList } from "../empty-list.ts"
import { formatTime, printJson, printTable } from "../print-table.ts"
import { printLine } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"
import { findSession, findSessionId, firstSession } from "../run/find-session.ts"
import { openExistingSessionPlace } from "../run/session-store.ts"
import { createEventViewer } from "../show-events.ts"
import type { deleteSessionsOptions, exportOptions, listSessionsOptions, sessionOptions } from "../table/sessions.ts"
import { UsageError } from "../usage-error.ts"

export function listSessionsCommand({ values }: Input<typeof listSessionsOptions>): Promise<number> {
  return withArchiveOf(values.store, async (source, where) => {
    const sessions = await listSessions(source, { agent: values.agent, search: values.search })
    if (values.json) printJson(sessions)
    else if (sessions.length === 0)
      printEmptyList({
        what: "sessions",
        where,
        cure: firstSession,
        filters: { agent: values.agent, search: values.search },
      })
    else {
      const rows = sessions.map(({ id, updatedAt, status = "running", runs, agent, title }) => {
        return [id, formatTime(updatedAt), status, String(runs), agent, title]
      })
      printTable([["session", "last used", "status", "runs", "agent", "first prompt"], ...rows])
    }
    return 0
  })
}

export function showSessionCommand({ values, positionals }: Input<typeof sessionOptions>): Promise<number> {
  return withArchiveOf(values.store, async (source) => {
    const { record, events } = await findSession(source, positionals[0] ?? "")
    if (values.json) printJson(sessionInfoOf(record))
    else {
      printTable([
        ["session", record.id],
        ["agent", record.agent],
        ["begun", formatTime(record.createdAt)],
        ["last used", formatTime(record.updatedAt)],
        ["runs", `${record.runs}${record.status ? `, the last one ${record.status}` : ""}`],
      ])
      process.stdout.write("\n")
      events.forEach(createEventViewer())
    }
    return 0
  })
}

export function exportSessionCommand({ values, positionals }: Input<typeof exportOptions>): Promise<number> {
  return withArchiveOf(values.store, async (source) => {
    const { record } = await findSession(source, positionals[0] ?? "")
    const trajectory = (await loadSession(source, record.id)).trajectory()
    const text = `${JSON.stringify(values.format === "atif" ? toAtif(trajectory) : trajectory, undefined, 2)}\n`
    if (values.out === undefined) process.stdout.write(text)
    else await replacePrivateFile(values.out, text)
    return 0
  })
}

export function deleteSessionsCommand({ values, positionals }: Input<typeof deleteSessionsOptions>): Promise<number> {
  return withArchiveOf(values.store, async (source) => {
    // All names are checked before the first session is deleted.
    const ids = await Promise.all(positionals.map((id) => findSessionId(source, id)))
    for (const id of ids) {
      await deleteSession(source, id)
      printLine(`Deleted ${id}`)
    }
    return 0
  })
}

async function withArchiveOf(
  store: string | undefined,
  work: (source: ArchiveSource, where: string) => Promise<number>,
): Promise<number> {
  const place = openExistingSessionPlace(store, await loadProjectConfig(undefined))
  try {
    if (place.source === undefined) throw new UsageError("--store off stores no sessions. Name a folder or a store.")
    return await work(place.source, place.name)
  } finally {
    await place.close()
  }
}
