import { lstatSync, readdirSync, type Stats, statSync } from "node:fs"
import { dirname, isAbsolute, join } from "node:path"
import { ConfigError } from "../core/errors.ts"
import { sessionDirectory } from "./folder/session-file.ts"
import { lockFile } from "./folder/session-folder.ts"

// A handle is a text that may come from anywhere, so a folder that only a handle names is used only if it belongs to the current user and
// nobody else can write it. The folders above it are not checked: another user who can rename them can only put
// folders of the current user in its place.

/** Refuses an archive that only a handle names, unless nobody but the current user can have written the session. */
export function refuseForeignArchive(folder: string, id: string): void {
  const cure = "Give the archive to trust it: { resume, archive }."
  if (!isAbsolute(folder))
    throw new ConfigError(`The handle names the folder "${folder}", which is no full path. ${cure}`)
  const session = sessionDirectory(folder, id)
  const parts = [folder, join(folder, lockFile), join(folder, "sessions"), session]
  for (const path of [...parts, ...listEntries(session)]) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    const problem = found && (path !== folder && found.isSymbolicLink() ? "is a link" : ownershipProblem(path, 0o022))
    if (problem)
      throw notTrustedError(path, problem, `Correct that, or give the archive to trust it: { resume, archive }.`)
  }
  if (!statSync(folder, { throwIfNoEntry: false })) refuseForeignParent(folder)
}

/** What the owner is told when approvals do not count because only a handle names their archive. */
export function approvalsIgnoredMessage(approved: readonly string[]): string {
  const names = approved.map((each) => JSON.stringify(each)).join(", ")
  return `What was always allowed in this session is asked again (${names}), because only the handle names its archive. Give the archive to have it count: { resume, archive }.`
}

/** Refuses a working folder that only a handle or its archive names: a coding CLI would take its settings from there. Members of its group
 *  may write it, as in many a project. */
export function refuseForeignCwd(cwd: string): void {
  const problem = isAbsolute(cwd) ? ownershipProblem(cwd, 0o002) : "is no full path"
  if (problem) throw notTrustedError(cwd, problem, "Name the folder yourself, by the option cwd, to trust it.")
}

// An archive that is gone is made again, in a folder that must be the user's as well.
function refuseForeignParent(folder: string): void {
  let parent = dirname(folder)
  while (!statSync(parent, { throwIfNoEntry: false }) && dirname(parent) !== parent) parent = dirname(parent)
  const problem = ownershipProblem(parent, 0o022)
  if (problem) throw notTrustedError(parent, problem, "Give the archive to trust it: { resume, archive }.")
}

function ownershipProblem(path: string, others: number): string | undefined {
  const user = process.getuid?.()
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  // Windows has neither users by number nor modes.
  if (user === undefined || !found) return undefined
  if (found.uid !== user) return `belongs to user ${found.uid}, and this process is of user ${user}`
  if (found.mode & others) return `can be written by others (mode ${(found.mode & 0o777).toString(8)})`
  return undefined
}

function listEntries(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))
  } catch {
    return []
  }
}

function notTrustedError(path: string, problem: string, cure: string): ConfigError {
  return new ConfigError(`The handle leads to "${path}", which is not trusted: it ${problem}. ${cure}`)
}
