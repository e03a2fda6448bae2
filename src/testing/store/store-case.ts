// What the cases of the store suite are made of: checks, and the trial they run in.
import assert from "node:assert/strict"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { fork } from "../../core/child/child-process.ts"
import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import type { Store } from "../../stores/store.ts"
import type { StoreSuite } from "../store.ts"
import type { StoreJob } from "./store-child.ts"

/** One promise of a store, and its check. */
export interface StoreCheck {
  promise: string
  /** The suite option that the check requires. */
  needs?: "module" | "outage" | "fill" | "damage"
  check(trial: StoreTrial): Promise<void>
}

export function storeCase(promise: string, check: StoreCheck["check"]): StoreCheck {
  return { promise, check }
}

export function storeCaseNeeding(
  needs: NonNullable<StoreCheck["needs"]>,
  promise: string,
  check: StoreCheck["check"],
): StoreCheck {
  return { promise, needs, check }
}

/** One place and everything opened and started there. Disposing of it ends all of it. */
export interface StoreTrial extends AsyncDisposable {
  open(): Promise<Store>
  /** Lets another process work on the store at this place. */
  start(job: StoreJob): StoreWorker
  trouble(kind: "outage" | "fill" | "damage"): Promise<() => Promise<void>>
}

export interface StoreWorker {
  /** Returns the next message of the process; undefined when it has ended. */
  nextMessage(): Promise<Json | undefined>
  /** Waits until the process ends by itself; fails if it failed. */
  ended(): Promise<void>
  kill(): Promise<void>
}

export async function createStoreTrial(suite: StoreSuite): Promise<StoreTrial> {
  const place = await suite.location()
  const stores: Store[] = []
  const workers: StoreWorker[] = []
  const undo: (() => Promise<void>)[] = []
  return {
    async open() {
      const store = await suite.open(place)
      stores.push(store)
      return store
    },
    start(job) {
      assert.ok(suite.module)
      const worker = createStoreWorker(fork(entry, [String(suite.module), place, JSON.stringify(job)]))
      workers.push(worker)
      return worker
    },
    async trouble(kind) {
      const back = await suite[kind]?.(place)
      assert.ok(back)
      let isBack = false
      const once = async () => {
        if (isBack) return
        isBack = true
        await back()
      }
      undo.push(once)
      return once
    },
    async [Symbol.asyncDispose]() {
      for (const back of undo) await back()
      for (const worker of workers) await worker.kill()
      for (const store of stores) await store.close()
    },
  }
}

export async function itemsOf(store: Store, log: string, from?: number): Promise<Json[]> {
  return await Array.fromAsync(store.read(log, from))
}

export async function keysOf(store: Store, prefix = ""): Promise<string[]> {
  return await Array.fromAsync(store.keys(prefix))
}

export async function valueAt(store: Store, key: string): Promise<unknown> {
  return (await store.get(key))?.value
}

/** Fails unless the work rejects with this error code. */
export async function refused(code: string, work: Promise<unknown>): Promise<AgentError> {
  const error = await work.then(
    () => assert.fail(`It was done, not refused with "${code}".`),
    (error) => error,
  )
  assert.ok(error instanceof AgentError, String(error))
  assert.equal(error.code, code, error.message)
  return error
}

function createStoreWorker(child: ChildProcess): StoreWorker {
  const said: Json[] = []
  const exit = once(child, "exit")
  let wake = Promise.withResolvers<void>()
  let isOver = false
  child.on("message", (message: Json) => {
    said.push(message)
    wake.resolve()
  })
  child.on("exit", () => {
    isOver = true
    wake.resolve()
  })
  return {
    async nextMessage() {
      while (said.length === 0 && !isOver) {
        await wake.promise
        wake = Promise.withResolvers()
      }
      return said.shift()
    },
    async ended() {
      const [code, signal] = await exit
      assert.deepEqual([code, signal], [0, null])
    },
    async kill() {
      if (!isOver) child.kill("SIGKILL")
      await exit
    },
  }
}

const entry = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "store-child.ts" : "store-child.js", import.meta.url),
)
