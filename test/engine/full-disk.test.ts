// test lane: durable, long
import assert from "node:assert/strict"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { type Agent, AgentError } from "karst"
import { createEngine, type Engine, inlineBackend } from "karst/engine"
import { type Store, type StoreChange, sqliteStore } from "karst/stores"
import { isRecord } from "../../src/core/object.ts"
import { smallDisk } from "../stores/small-disk.ts"
import { requires } from "../system.ts"
import { checkRecovered, checkUndisturbed, type Outcome } from "./crash/check.ts"
import { isHeld, kinds } from "./crash/kinds.ts"
import { type Ledger, openLedger, readLedger } from "./crash/ledger.ts"
import type { Told } from "./crash/program.ts"

describe("an engine whose SQLite file is on a full disk", { skip: requires("small-disk") }, () => {
  let disk: ReturnType<typeof smallDisk>
  let folders = 0
  before(() => {
    disk = smallDisk(8)
  })
  after(() => disk.remove())

  function newFolder(): string {
    const folder = join(disk.folder, `run-${++folders}`)
    mkdirSync(folder)
    return folder
  }

  function hasNoRoom(error: unknown, path: string): void {
    assert.ok(error instanceof AgentError, String(error))
    const message = `The store "${path}" has no room left, so the commit was not made. Make room, then try again.`
    assert.deepEqual([error.code, error.retryable, error.message], ["no-space", true, message])
  }

  /** Executes a run. The disk is full from its nth write on, except for so many pages, until two commits have failed. */
  async function runWith(
    kind: string,
    fillAt?: number,
    leavePages = 0,
  ): Promise<Outcome & { failed: number; writes: number }> {
    const folder = newFolder()
    const path = join(folder, "karst.db")
    // The ledger is written while the disk is full.
    const marks = `${disk.folder}-ledger-${folders}`
    mkdirSync(marks)
    const ledger = openLedger(marks)
    let writes = 0
    let failed = 0
    let claims = 0
    let free: (() => Promise<void>) | undefined
    const inner = sqliteStore(path, { sync: false })
    const store: Store = {
      ...inner,
      async commit(changes, ...rest) {
        if (++writes === fillAt) free = await disk.fill(leavePages * 4096)
        try {
          const revision = await inner.commit(changes, ...rest)
          const fence = fenceIn(changes) ?? claims
          if (fence > claims && failed > 0) ledger.killed()
          claims = fence
          ledger.committed(changes)
          return revision
        } catch (error) {
          if (!(error instanceof AgentError && error.code === "conflict")) hasNoRoom(error, path)
          if (++failed === 2) {
            await free?.()
            free = undefined
          }
          throw error
        }
      },
    }
    const backend = inlineBackend({ onError: (error) => hasNoRoom(error, path) })
    try {
      await using engine = createEngine({
        agents: { agent: agentOf(kind, ledger) },
        store,
        backend,
        holdMs: isHeld(kind) ? Number.POSITIVE_INFINITY : 0,
      })
      await engine.work()
      const told = await toTheEnd(engine)
      return { told: { ...told, folder, writes: [] }, ledger: readLedger(marks), failed, writes }
    } finally {
      await free?.()
      await inner.close()
      rmSync(marks, { recursive: true })
      rmSync(folder, { recursive: true })
    }
  }

  for (const kind of Object.keys(kinds)) {
    test(`${kind}: the run continues when there is room again; nothing is lost or done twice, whichever write failed`, async (context) => {
      const baseline = await runWith(kind)
      checkUndisturbed(baseline)
      let disturbed = 0
      for (let write = 1; write <= baseline.writes; write++) {
        const outcome = await runWith(kind, write, write % 3)
        if (outcome.failed === 0) continue
        disturbed++
        // A failed answer does not interrupt the run.
        const isInterrupted = outcome.ledger.some(({ what }) => what === "killed")
        if (isInterrupted) checkRecovered(`${kind}, full at write ${write}`, baseline, outcome)
        else checkUndisturbed(outcome)
      }
      context.diagnostic(`${kind}: full at ${disturbed} of ${baseline.writes} writes`)
    })
  }
})

function agentOf(kind: string, ledger: Ledger): Agent {
  const make = kinds[kind]
  return make ? make(ledger) : assert.fail(`There is no kind "${kind}".`)
}

/** How often the run was claimed, if these changes write its head. */
function fenceIn(changes: readonly StoreChange[]): number | undefined {
  for (const change of changes) {
    if (change.type === "put" && isRecord(change.value) && typeof change.value.fence === "number")
      return change.value.fence
  }
  return undefined
}

/** Submits the run and answers what it asks, each until it is accepted, and returns what came of it. */
async function toTheEnd(engine: Engine): Promise<Omit<Told, "folder" | "writes">> {
  const { id } = await untilAccepted(() => engine.submit("agent", "Go.", { key: "full" }))
  let result = await engine.result(id)
  while (result.status === "waiting" && result.pending) {
    const { kind, id: call } = result.pending
    await untilAccepted(() => (kind === "question" ? engine.answer(id, "blue") : engine.approve(id, call, "allow")))
    result = await engine.result(id)
  }
  const { status, output, error } = result
  return { status, output, ...(error && { error }), events: await Array.fromAsync(engine.watch(id)) }
}

async function untilAccepted<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof AgentError && error.code === "no-space")) throw error
    }
  }
}
