// A worker process of the store suite: opens the store at a place with the given module, and does one job.
import { ConflictError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import type { Store } from "../../stores/store.ts"

export type StoreJob =
  /** Increments `counter` this many times, each time based on the value it read. */
  | { type: "count"; times: number }
  /** Appends [name, 0], [name, 1] … to a log. */
  | { type: "append"; log: string; name: string; times: number }
  /** Commits n = 1, 2 … to `a`, `b`, `blob` and the log `all` until it is killed, and reports each committed n. */
  | { type: "endless"; blobBytes: number }
  /** Alternates JSON and bytes at `k` until it is killed; reports when it has started. */
  | { type: "flip" }
  /** Reports the items of a log. */
  | { type: "watch"; log: string; from: number }

const [module = "", place = "", job = ""] = process.argv.slice(2)
const { open }: { open: (place: string) => Store | Promise<Store> } = await import(module)
const store = await open(place)
await work(JSON.parse(job))
await store.close()
process.disconnect()

async function work(job: StoreJob): Promise<void> {
  switch (job.type) {
    case "count":
      for (let done = 0; done < job.times; done++) await countUp()
      return
    case "append":
      for (let number = 0; number < job.times; number++) {
        await store.commit([{ type: "append", log: job.log, items: [[job.name, number]] }])
      }
      return
    case "endless":
      return endless(new Uint8Array(job.blobBytes))
    case "flip":
      return flip()
    case "watch":
      say("ready")
      for await (const item of store.watch?.(job.log, job.from, new AbortController().signal) ?? []) say(item)
  }
}

async function countUp(): Promise<void> {
  for (;;) {
    const { value = 0, revision = 0 } = (await store.get("counter")) ?? {}
    try {
      const changes = [{ type: "put", key: "counter", value: Number(value) + 1 }] as const
      await store.commit(changes, { key: "counter", ifRevision: revision })
      return
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

async function endless(blob: Uint8Array): Promise<void> {
  for (let number = Number((await store.get("a"))?.value ?? 0) + 1; ; number++) {
    blob.fill(number)
    await store.commit([
      { type: "put", key: "a", value: number },
      { type: "append", log: "all", items: [number] },
      { type: "put", key: "blob", value: blob },
      { type: "append", log: "other", items: ["x".repeat(1000), number] },
      { type: "put", key: "b", value: number },
    ])
    say(number)
  }
}

async function flip(): Promise<void> {
  for (let number = 0; ; number++) {
    await store.commit([{ type: "put", key: "k", value: number % 2 ? number : Uint8Array.of(1) }])
    if (number === 1) say("begun")
  }
}

function say(message: Json): void {
  process.send?.(message)
}
