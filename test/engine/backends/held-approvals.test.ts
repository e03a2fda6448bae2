// test lane: durable, long
import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import type { Decision } from "karst"
import { createEngine, type Engine, inlineBackend } from "karst/engine"
import type { Store } from "karst/stores"
import { isRecord } from "../../../src/core/object.ts"
import { type RedisServer, startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"
import { until } from "../../waiting.ts"
import { openPlace } from "../crash/places.ts"
import { type HeldSetup, wipingAgent } from "./held-agent.ts"

const forever = 1_000_000

for (const place of ["sqlite", "redis"] as const) {
  const skip = place === "redis" ? requires("redis") : undefined
  describe(`an approval of a cell that another process holds, over ${place}`, { skip, concurrency: 3 }, () => {
    const root = mkdtempSync(join(tmpdir(), "karst-held-"))
    let server: RedisServer | undefined
    let folders = 0
    before(async () => {
      if (place !== "redis") return
      server = await startRedis()
      process.env.KARST_TEST_REDIS = server.url
    })
    after(async () => {
      await server?.[Symbol.asyncDispose]()
      rmSync(root, { recursive: true })
    })

    const openBench = () => {
      const folder = join(root, `held-${process.pid}-${++folders}`)
      mkdirSync(folder)
      return createBench({ place, folder })
    }

    test("is answered within the hold: the cell goes on where it is", async () => {
      await using bench = openBench()
      await bench.startWorker({ holdMs: forever })
      const { id, call } = await bench.submit("one")
      assert.equal(await bench.storedStatus(id), "running")
      await bench.front.approve(id, call, "allow")
      await bench.endsWith(id, "wiped")
      assert.deepEqual(bench.effects(), ["pay one", "wipe one"])
    })

    test("is answered at about the end of the hold: each call is made once or refused, as it was answered", async () => {
      await using bench = openBench()
      const holdMs = 300
      await bench.startWorker({ holdMs })
      const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
      await Promise.all(
        names.map(async (name, index) => {
          const { id, call } = await bench.submit(name)
          await sleep(holdMs - 60 + index * 10)
          const decision = index % 3 === 0 ? "deny" : "allow"
          await bench.front.approve(id, call, decision)
          await bench.endsWith(id, decision === "allow" ? "wiped" : "refused")
        }),
      )
      const wiped = names.filter((_, index) => index % 3 !== 0).map((name) => `wipe ${name}`)
      assert.deepEqual(bench.effects().toSorted(), [...names.map((name) => `pay ${name}`), ...wiped].toSorted())
    })

    for (const [when, decision] of [
      ["before another worker takes the run", "allow"],
      ["before another worker takes the run", "deny"],
      ["after another worker has asked again", "allow"],
    ] as const) {
      test(`survives a kill of the worker that holds the cell: ${decision} ${when}`, async () => {
        await using bench = openBench()
        const worker = await bench.startWorker({ holdMs: forever })
        const { id, call } = await bench.submit("one")
        await bench.kill(worker)
        if (when.startsWith("before")) {
          await bench.front.approve(id, call, decision)
          await bench.startWorker({ holdMs: forever })
        } else {
          await bench.startWorker({ holdMs: forever })
          await bench.approveOnceAsked(id, decision)
        }
        await bench.endsWith(id, decision === "allow" ? "wiped" : "refused")
        assert.deepEqual(bench.effects(), decision === "allow" ? ["pay one", "wipe one"] : ["pay one"])
      })
    }

    test("survives a kill just after it was answered: the call is made once or reported as unknown", async () => {
      await using bench = openBench()
      const worker = await bench.startWorker({ holdMs: forever })
      const { id, call } = await bench.submit("one")
      await bench.front.approve(id, call, "allow")
      await bench.kill(worker)
      await bench.startWorker({ holdMs: forever })
      const output = await bench.outputOf(id)
      const wipes = bench.effects().filter((line) => line === "wipe one").length
      if (output === "wiped") assert.equal(wipes, 1)
      else assert.ok(wipes <= 1)
    })

    for (const [when, holdMs, isKilled] of [
      ["while the cell is held", forever, false],
      ["while the run waits without a worker", 0, false],
      ["after the worker that held the cell was killed", forever, true],
    ] as const) {
      test(`is refused after approvalTimeoutMs ${when}, and cannot be answered any more`, async () => {
        await using bench = openBench()
        const approvalTimeoutMs = 3_000
        const worker = await bench.startWorker({ holdMs, approvalTimeoutMs })
        const { id, call } = await bench.submit("one")
        if (isKilled) {
          await bench.kill(worker)
          await bench.startWorker({ holdMs, approvalTimeoutMs })
        }
        await bench.endsWith(id, "refused")
        assert.deepEqual(bench.effects(), ["pay one"])
        await assert.rejects(bench.front.approve(id, call, "allow"), { code: "unknown-approval" })
        const resolved = (await Array.fromAsync(bench.front.watch(id))).filter(
          ({ type }) => type === "approval-resolved",
        )
        assert.equal(resolved.length, 1)
      })
    }
  })
}

interface Bench extends AsyncDisposable {
  /** An engine that does not work: it submits and answers. */
  front: Engine
  startWorker(options: Pick<HeldSetup, "holdMs" | "approvalTimeoutMs">): Promise<ChildProcess>
  kill(worker: ChildProcess): Promise<void>
  /** Submits a run and waits until it asks. */
  submit(name: string): Promise<{ id: string; call: string }>
  /** Answers the request of the worker that has the run now. */
  approveOnceAsked(id: string, decision: Decision): Promise<void>
  storedStatus(id: string): Promise<unknown>
  outputOf(id: string): Promise<string>
  endsWith(id: string, output: string): Promise<void>
  effects(): string[]
}

function createBench({ place, folder }: Pick<HeldSetup, "place" | "folder">): Bench {
  const { store, backend = inlineBackend() } = openPlace({ place, folder })
  const agent = wipingAgent({ place, folder })
  const front = createEngine({ agents: { agent }, store, backend })
  const workers: ChildProcess[] = []

  async function kill(worker: ChildProcess): Promise<void> {
    if (worker.exitCode !== null || worker.signalCode !== null) return
    const exit = once(worker, "exit")
    worker.kill("SIGKILL")
    await exit
  }

  async function outputOf(id: string): Promise<string> {
    const events = await Array.fromAsync(front.watch(id))
    const end = events.at(-1)
    return end?.type === "run-end" ? (end.output ?? "") : ""
  }

  return {
    front,
    async startWorker(options) {
      const setup: HeldSetup = { place, folder, ...options }
      const program = join(import.meta.dirname, "held-program.ts")
      const child = spawn(process.execPath, ["--conditions=karst-source", program, JSON.stringify(setup)], {
        env: { ...process.env, NODE_OPTIONS: "" },
        stdio: ["ignore", "pipe", "inherit"],
      })
      workers.push(child)
      await once(child.stdout, "data")
      return child
    },
    kill,
    async submit(name) {
      const { id } = await front.submit("agent", `run ${name}`)
      const { pending } = await front.result(id)
      assert.equal(pending?.kind, "approval")
      return { id, call: pending?.id ?? "" }
    },
    async approveOnceAsked(id, decision) {
      await until(async () => (await headOf(store, id)).fence === 2)
      const { pending } = await front.result(id)
      await front.approve(id, pending?.id ?? "", decision)
    },
    storedStatus: async (id) => (await headOf(store, id)).status,
    outputOf,
    async endsWith(id, output) {
      assert.equal(await outputOf(id), output)
    },
    effects: () => readFileSync(join(folder, "effects"), "utf8").trim().split("\n"),
    async [Symbol.asyncDispose]() {
      for (const worker of workers) await kill(worker)
      await front.close()
      await store.close()
    },
  }
}

async function headOf(store: Store, id: string): Promise<{ [key: string]: unknown }> {
  const { value } = (await store.get(`runs/${id}`)) ?? {}
  return isRecord(value) ? value : {}
}
