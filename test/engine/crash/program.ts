// A process of the crash matrix. Its orders are JSON in the first argument: each is a run to start or to continue in a
// folder. The last order may have the process killed at a chosen write. Prints one line of JSON for the result of each
// run.
import type { AgentEvent, Json, RunResult } from "karst"
import { type Backend, createEngine } from "karst/engine"
import type { Store } from "karst/stores"
import { isRecord } from "../../../src/core/object.ts"
import { until } from "../../waiting.ts"
import { createFactReader } from "./facts.ts"
import { isHeld, kinds } from "./kinds.ts"
import { type Ledger, openLedger } from "./ledger.ts"
import { openPlace } from "./places.ts"

export interface Order {
  kind: string
  folder: string
  place: "sqlite" | "redis"
  /** Continues the run of a killed process. */
  recovers: boolean
  kill?: Point | undefined
}

/** Where a process is killed: before or after the write that stores a fact, or its nth write, counted from 1. */
export interface Point {
  at: string | number
  before: boolean
}

export interface Told {
  folder: string
  status: RunResult["status"]
  output: string
  error?: RunResult["error"]
  events: AgentEvent[]
  /** For each write that the process made for it, the facts that it was the first to store. */
  writes: string[][]
}

const orders: Order[] = JSON.parse(process.argv[2] ?? "[]")
for (const order of orders) process.stdout.write(`${JSON.stringify(await carryOut(order))}\n`)

async function carryOut(order: Order): Promise<Told> {
  const { kind, folder, recovers } = order
  const ledger = openLedger(folder)
  const make = kinds[kind]
  if (!make) throw new Error(`There is no kind "${kind}".`)
  const writes = countWrites(order, ledger)
  const { store, backend } = openPlace(order, { mayDie: order.kill !== undefined })
  await using inner = store
  await using engine = createEngine({
    agents: { agent: make(ledger) },
    store: killingStore(inner, ledger, writes),
    ...(backend && { backend: killingBackend(backend, writes) }),
    holdMs: isHeld(kind) ? Number.POSITIVE_INFINITY : 0,
  })
  if (backend) await engine.work({ maxParallel: 1 })
  const { id } = await engine.submit("agent", "Go.", { key: "crash" })
  if (recovers) await engine.recover()
  let result = await engine.result(id)
  while (result.status === "waiting" && result.pending) {
    // An answer that comes while the cell is given up takes other writes than one that comes afterwards.
    if (!isHeld(kind)) await until(async () => statusIn((await inner.get(`runs/${id}`))?.value) === "waiting")
    if (result.pending.kind === "question") await engine.answer(id, "blue")
    else await engine.approve(id, result.pending.id, "allow")
    result = await engine.result(id)
  }
  const events = await Array.fromAsync(engine.watch(id))
  const { status, output, error } = result
  return { folder, status, output, ...(error && { error }), events, writes: writes.facts() }
}

function statusIn(head: Json | Uint8Array | undefined): Json | undefined {
  return head && !(head instanceof Uint8Array) && isRecord(head) ? head.status : undefined
}

interface Writes {
  /** Does the write, which is the first to store these facts, or dies of it. */
  pass<T>(facts: string[], write: () => Promise<T>, written?: () => void): Promise<T>
  facts(): string[][]
}

function countWrites({ kill }: Order, ledger: Ledger): Writes {
  const underWay = new Set<Promise<unknown>>()
  const made: string[][] = []

  // Waits for writes under way: one that the server made without an answer would be missing in the ledger.
  async function die(): Promise<never> {
    while (underWay.size > 0) await Promise.allSettled(underWay)
    ledger.killed()
    process.kill(process.pid, "SIGKILL")
    throw new Error("A killed process went on.")
  }

  async function pass<T>(write: () => Promise<T>, written?: () => void): Promise<T> {
    const result = await write()
    written?.()
    return result
  }

  return {
    async pass(facts, write, written) {
      made.push(facts)
      const isLast = typeof kill?.at === "string" ? facts.includes(kill.at) : made.length === kill?.at
      if (isLast && kill?.before) await die()
      const work = pass(write, written)
      underWay.add(work)
      try {
        return await work
      } finally {
        underWay.delete(work)
        if (isLast) await die()
      }
    },
    facts: () => made,
  }
}

function killingStore(inner: Store, ledger: Ledger, writes: Writes): Store {
  const factsIn = createFactReader()
  return {
    ...inner,
    commit: (changes, ...rest) =>
      writes.pass(
        factsIn(changes),
        () => inner.commit(changes, ...rest),
        () => ledger.committed(changes),
      ),
  }
}

function killingBackend(inner: Backend, writes: Writes): Backend {
  let pushes = 0
  return { ...inner, push: (job) => writes.pass([`push ${++pushes}`], () => inner.push(job)) }
}
