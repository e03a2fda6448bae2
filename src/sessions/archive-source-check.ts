// Checks what names an archive: a folder or a store. The address of a database is not a folder: taken for one, it would
// be created as a folder whose name contains the password.
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Store } from "../stores/store.ts"
import { isStoreName } from "../stores/store-names.ts"

const mustBeStore = check.mustImplement<Store>(["get", "commit", "keys", "read"], "a store")
const mustBeFolderOrStore = check.mustBeEither("a folder or a store", check.mustBeText, mustBeStore)

/** The check of the option `archive` in code, where a text is a folder. */
export const mustBeArchive: check.OptionCheck = (value, path) =>
  typeof value === "string" && isAddress(value) ? addressProblem(value, storeInCode) : mustBeFolderOrStore(value, path)

/** The check of `archive` in a configuration, where a text may also name a store. */
export const mustBeNamedArchive: check.OptionCheck = (value, path) => {
  const isOther = typeof value === "string" && isAddress(value) && !isStoreName(value)
  return isOther ? addressProblem(value, nameOfStore) : mustBeFolderOrStore(value, path)
}

/** Throws for the address of a database, where a text must be a folder. */
export function requireFolder(text: string): void {
  if (isAddress(text)) throw new ConfigError(`The archive ${addressProblem(text, storeInCode)}.`)
}

/** Returns true for `redis://host` and `sqlite:file`, which are no folders. */
export function isAddress(text: string): boolean {
  return /^([a-z][a-z\d+.-]+:\/\/|sqlite:)/i.test(text)
}

function addressProblem(text: string, cure: string): string {
  return `is the address ${check.describeValue(text)}, and not a folder or a store. ${cure}`
}

const nameOfStore = "Name a folder, redis://host:6379 or sqlite:karst.db"
const storeInCode =
  'Name a folder, or create a store: redisStore("redis://host") or sqliteStore("file.db") of karst/stores'
