// The archive of the configuration as text: a folder, a store by its name, or "off".
import type { ArchiveSource } from "../sessions/session-archive.ts"
import { findStore } from "../stores/find-store.ts"
import type { Store } from "../stores/store.ts"
import { isStoreName, sqlitePath } from "../stores/store-names.ts"

/** The text in place of an archive that says that sessions are not stored. */
export const notStored = "off"

/** Makes the path in the text absolute. */
export function absoluteArchive(archive: string, absolute: (path: string) => string): string {
  const path = sqlitePath(archive)
  if (path !== undefined) return path === ":memory:" ? archive : `sqlite:${absolute(path)}`
  return archive === notStored || isStoreName(archive) ? archive : absolute(archive)
}

/** Opens the archive of a configuration, at most once. `close` closes a store that the configuration names; one that was
 *  made in code stays open. */
export function createNamedArchive(archive: ArchiveSource | undefined): {
  source(): ArchiveSource | undefined
  close(): Promise<void>
} {
  let store: Store | undefined
  return {
    source() {
      if (typeof archive !== "string") return archive
      if (archive === notStored) return undefined
      store ??= findStore(archive)
      return store ?? archive
    },
    async close() {
      const opened = store
      store = undefined
      await opened?.close()
    },
  }
}
