// Decides whether to trust a folder that only a session handle names. A handle may come from anywhere, so such a folder
// must belong to the current user, and no other user may be able to write it.
import { lstatSync, readdirSync, type Stats, statSync } from "node:fs"
import { dirname, isAbsolute, join } from "node:path"
import { attempt } from "../core/attempt.ts"
import { ConfigError } from "../core/errors.ts"
import { sessionDirectory } from "./folder/session-file.ts"
import { lockFile } from "./folder/session-folder.ts"

/** Throws if anyone but the current user can have written the session. The folders above the archive are not checked: a
 *  user who can rename them can only put other folders of the current user in its place. */
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

/** The warning that approvals do not count because only a handle names their archive. */
export function approvalsIgnoredMessage(approved: readonly string[]): string {
  const names = approved.map((each) => JSON.stringify(each)).join(", ")
  return (
    `What was always allowed in this session is asked again (${names}), because only the handle names its archive. ` +
    "Give the archive to have it count: { resume, archive }."
  )
}

/** Throws if others can write a working folder that only a handle or its archive names: a coding CLI would take its
 *  settings from there. Members of its group may write it, as in many projects. */
export function refuseForeignCwd(cwd: string): void {
  const problem = isAbsolute(cwd) ? ownershipProblem(cwd, 0o002) : "is no full path"
  if (problem) throw notTrustedError(cwd, problem, "Name the folder yourself, by the option cwd, to trust it.")
}

// A missing archive is created again, so its nearest existing parent must belong to the user too.
function refuseForeignParent(folder: string): void {
  let parent = dirname(folder)
  while (!statSync(parent, { throwIfNoEntry: false }) && dirname(parent) !== parent) parent = dirname(parent)
  const problem = ownershipProblem(parent, 0o022)
  if (problem) throw notTrustedError(parent, problem, "Give the archive to trust it: { resume, archive }.")
}

function ownershipProblem(path: string, others: number): string | undefined {
  const user = process.getuid?.()
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  // Windows has neither user ids nor modes.
  if (user === undefined || !found) return undefined
  if (found.uid !== user) return `belongs to user ${found.uid}, and this process is of user ${user}`
  if (found.mode & others) return `can be written by others (mode ${(found.mode & 0o777).toString(8)})`
  return undefined
}

function listEntries(folder: string): string[] {
  return (
    attempt(() => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))) ?? []
  )
}

function notTrustedError(path: string, problem: string, cure: string): ConfigError {
  return new ConfigError(`The handle leads to "${path}", which is not trusted: it ${problem}. ${cure}`)
}
