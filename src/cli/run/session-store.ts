// Finds the place where a command stores sessions: an archive folder, or a store.
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { findUser } from "../../config/find-files.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import { notStored } from "../../config/named-archive.ts"
import type { ArchiveSource } from "../../sessions/session-archive.ts"
import { findStore } from "../../stores/find-store.ts"
import { storeName } from "../../stores/store-names.ts"
import { quoteShellWord } from "../shell-words.ts"
import { requireExistingStore, storeOptionText } from "../store-option.ts"
import { UsageError } from "../usage-error.ts"

export interface SessionPlace {
  /** Undefined: sessions are not stored. */
  source: ArchiveSource | undefined
  /** Where it is, for messages. */
  name: string
  /** True for the user's own folder. Only there, the options of a stored session are used again. */
  isUserFolder: boolean
  /** The option that leads there again; empty if it is where sessions are stored by default. */
  option: string
  close(): Promise<void>
}

/** Opens the place that `--store` names, or the default one, for a command that reads sessions. Throws if the named one
 *  does not exist. */
export function openExistingSessionPlace(given: string | undefined, loaded: LoadedConfig): SessionPlace {
  requireExistingStore(given)
  return openSessionPlace(given, loaded)
}

/** Opens the place that `--store` names, or the default one. It is created with the first session. */
export function openSessionPlace(given: string | undefined, { config }: LoadedConfig): SessionPlace {
  const userFolder = findUser(process.env).folder
  const place = given ?? config.archive ?? userFolder
  if (place === notStored)
    return { source: undefined, name: "nowhere", isUserFolder: false, option: "", close: async () => {} }
  const store = typeof place === "string" ? findStore(place) : undefined
  if (store === undefined && given !== undefined) refuseFile(given)
  const source = store ?? (typeof place === "string" ? resolve(place) : place)
  return {
    source,
    name: typeof place !== "string" ? "the store of the configuration" : store ? storeName(place) : resolve(place),
    isUserFolder: source === userFolder,
    option: given === undefined ? "" : storeOptionText(given),
    async close() {
      await store?.close()
    },
  }
}

function refuseFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true) return
  throw new UsageError(
    `--store: ${path} is not a folder. A SQLite store is named by --store sqlite:${quoteShellWord(path)}`,
  )
}
