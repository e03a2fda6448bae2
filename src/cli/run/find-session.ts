// Finds a stored session by what a person writes: its id, the beginning of its id, its handle, or "last".
import { AgentError } from "../../core/errors.ts"
import {
  type ArchiveSource,
  listSessions,
  readSession,
  type StoredSession,
  sessionKeys,
  withArchive,
} from "../../sessions/session-archive.ts"
import { parseSessionHandle } from "../../sessions/session-handle.ts"
import { emptyListText } from "../empty-list.ts"
import { quoteShellWord } from "../shell-words.ts"
import { UsageError } from "../usage-error.ts"
import { wrongIdText } from "./wrong-id.ts"

/** `list` is the command that lists the sessions, for error messages. */
export async function findSession(
  source: ArchiveSource | undefined,
  text: string,
  list?: string | undefined,
): Promise<StoredSession> {
  if (source === undefined) throw new UsageError("--store off stores no sessions. Name a folder or a store.")
  const id = await findSessionId(source, text, list)
  return await withArchive(source, (archive) => readSession(archive, id))
}

/** Finds the id without reading the session, which may be damaged. */
export async function findSessionId(
  source: ArchiveSource,
  text: string,
  list = "karst sessions list",
): Promise<string> {
  const { id: wanted, folder } = parseSessionHandle(text)
  if (folder !== undefined && folder !== source)
    throw new UsageError(`The handle is of a session in ${folder}. Add: --store ${quoteShellWord(folder)}`)
  const exists =
    wanted !== "" &&
    (await withArchive(source, ({ store }) => store.get(sessionKeys.record(wanted))).catch(existsIfDamaged))
  return exists ? wanted : await findId(source, wanted, list)
}

/** A damaged session exists too. */
function existsIfDamaged(error: unknown): true {
  if (error instanceof AgentError && error.code === "corrupt") return true
  throw error
}

/** The cure of an empty list of sessions. */
export const firstSession = 'karst run "…" and karst chat store one.'

async function findId(source: ArchiveSource, wanted: string, list: string): Promise<string> {
  const wrong = wrongIdText(wanted, "session", list)
  if (wrong !== undefined) throw new UsageError(wrong)
  const sessions = await listSessions(source)
  const [newest] = sessions
  if (!newest) throw new UsageError(emptyListText({ what: "sessions", where: nameOf(source), cure: firstSession }))
  if (wanted === "last") return newest.id
  const [found, another] = sessions.filter(({ id }) => wanted.length >= 4 && id.startsWith(wanted))
  if (found && !another) return found.id
  const problem = another ? `Several sessions begin with "${wanted}"` : `There is no session "${wanted}"`
  throw new UsageError(`${problem} in ${nameOf(source)}. See: ${list}`)
}

function nameOf(source: ArchiveSource): string {
  return typeof source === "string" ? source : "the store"
}
