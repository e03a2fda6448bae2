// The store of the conformance test in docs/stores.md: it opens the store at a location, also in other processes.
import { sqliteStore } from "karst/stores"

export const open = (location: string) => sqliteStore(location, { sync: false, busyTimeoutMs: 30_000 })
