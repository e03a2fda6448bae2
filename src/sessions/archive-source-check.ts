// Checks what names an archive: a folder or a store. The address of a database is not a folder: taken for one, it would
// be created as a folder whose name contains the password.
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Store } from "../stores/store.ts"

const mustBeStore = check.mustImplement<Store>(["get", "commit", "keys", "read"], "a store")
const mustBeFolderOrStore = check.mustBeEither("a folder or a store", check.mustBeText, mustBeStore)

/** The check of the option `archive`. */
export const mustBeArchive: check.OptionCheck = (value, path) =>
  typeof value === "string" && isAddress(value) ? addressProblem(value) : mustBeFolderOrStore(value, path)

/** Throws for the address of a database. `use` names what was given, such as an option or a variable. */
export function requireFolder(text: string, use: string): void {
  if (isAddress(text)) throw new ConfigError(`${use} ${addressProblem(text)}.`)
}

/** Returns true for `redis://host` and `sqlite:file`, which are no folders. */
export function isAddress(text: string): boolean {
  return /^([a-z][a-z\d+.-]+:\/\/|sqlite:)/i.test(text)
}

function addressProblem(text: string): string {
  return (
    `is the address ${check.describeValue(text)}, and not a folder or a store. Name a folder, or create a store in code: ` +
    'redisStore("redis://host") or sqliteStore("file.db")'
  )
}
