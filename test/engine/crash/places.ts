import { basename, join } from "node:path"
import { type Backend, bullmqBackend } from "karst/engine"
import { redisStore, type Store, sqliteStore } from "karst/stores"
import type { Order } from "./program.ts"

/** Where the run of an order lives, for all processes that work on it: a file and the process itself, or a Redis server
 *  (KARST_TEST_REDIS) with a queue. */
export function openPlace(
  { place, folder }: Pick<Order, "place" | "folder">,
  { mayDie = false } = {},
): { store: Store; backend?: Backend } {
  // `sync: false` loses writes only in a power cut: a killed process has passed its writes to the operating system.
  if (place === "sqlite") return { store: sqliteStore(join(folder, "karst.db"), { sync: false }) }
  const url = process.env.KARST_TEST_REDIS ?? ""
  const name = basename(folder)
  return {
    store: redisStore(url, { prefix: name }),
    // A short lock for a worker that will die, so that its job is soon found. Others keep theirs on a busy machine.
    backend: bullmqBackend({
      url,
      queue: name,
      lockDurationMs: mayDie ? 1_000 : 10_000,
      stalledIntervalMs: 250,
      onError() {},
    }),
  }
}
