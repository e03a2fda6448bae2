// test lane: durable, long
import assert from "node:assert/strict"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, type TestContext, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { startRedis } from "../redis.ts"
import { requires } from "../system.ts"

const hour = 3_600_000

describe("a worker that was stopped for longer than its lease", () => {
  test("writes nothing and begins no call when it wakes up", async (context) => {
    await wakesUp(context, "sqlite")
  })

  test("so it is when it has lost its job in Redis as well", { skip: requires("redis") }, async (context) => {
    await using server = await startRedis()
    process.env.KARST_TEST_REDIS = server.url
    await wakesUp(context, "redis")
  })

  test("so it is when its clock was an hour ahead, or behind", async (context) => {
    await wakesUp(context, "sqlite", hour)
    await wakesUp(context, "sqlite", -hour)
  })
})

describe("a worker that goes on", () => {
  for (const [what, offset] of [
    ["ahead", hour],
    ["behind", -hour],
  ] as const) {
    test(`keeps its run when its clock is an hour ${what}`, async (context) => {
      const { folder, zombie, heir } = await twoAt(context, "sqlite", { offset, leaseMs: 3_000 })
      // It looks ten times a second, and sees the lease renewed.
      while (looksIn(folder) < 35) await setTimeout(20)
      zombie.child.stdin.write("go on\n")
      assert.deepEqual(await Promise.all([zombie.output, heir.output]), Array(2).fill("Done by zombie. true"))
      assert.deepEqual(effects(folder), ["zombie before", "zombie held", "zombie repeatable", "zombie after"])
    })

    test(`keeps its run when its clock is set an hour ${what} in the middle of a cell`, async (context) => {
      const { folder, zombie, heir } = await twoAt(context, "sqlite", { leaseMs: 3_000 })
      zombie.child.stdin.write(`clock ${offset}\n`)
      assert.deepEqual(await Promise.all([zombie.output, heir.output]), Array(2).fill("Done by zombie. true"))
      assert.deepEqual(effects(folder), ["zombie before", "zombie held", "zombie repeatable", "zombie after"])
    })
  }
})

async function wakesUp(context: TestContext, place: string, offset = 0): Promise<void> {
  const { folder, zombie, heir } = await twoAt(context, place, { offset, leaseMs: 300, signal: "SIGSTOP" })
  assert.equal(await heir.output, "Done by heir. true")
  zombie.child.kill("SIGCONT")
  zombie.child.stdin.write("go on\n")
  assert.equal(await zombie.output, "Done by heir. true")
  assert.deepEqual(effects(folder), ["zombie before", "zombie held", "heir held", "heir repeatable", "heir after"])
}

/** A worker that is in the middle of its cell, with that on its clock, and one that would take over. */
async function twoAt(
  context: TestContext,
  place: string,
  { offset = 0, leaseMs, signal }: { offset?: number; leaseMs: number; signal?: "SIGSTOP" },
) {
  const folder = await mkdtemp(join(tmpdir(), "karst-zombie-"))
  const start = (role: string, offset: number) => {
    const started = startWorker(place, folder, role, `${offset}`, `${leaseMs}`)
    context.after(() => started.child.kill("SIGKILL"))
    return started
  }
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const zombie = start("zombie", offset)
  while (!effects(folder).includes("zombie held")) await setTimeout(20)
  if (signal) await stopBetweenWrites(zombie.child, join(folder, "karst.db"))
  return { folder, zombie, heir: start("heir", 0) }
}

/** Stops a worker while it is not writing: a process that is stopped in a write holds the lock of the database for
 *  ever. */
async function stopBetweenWrites(worker: ChildProcessWithoutNullStreams, path: string): Promise<void> {
  for (;;) {
    worker.kill("SIGSTOP")
    if (!existsSync(path) || isWritable(path)) return
    worker.kill("SIGCONT")
    await setTimeout(20)
  }
}

function isWritable(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec("BEGIN IMMEDIATE; ROLLBACK")
    return true
  } catch {
    return false
  } finally {
    database.close()
  }
}

function effects(folder: string): string[] {
  return marksIn(folder).filter((line) => line !== "heir looked")
}

function looksIn(folder: string): number {
  return marksIn(folder).filter((line) => line === "heir looked").length
}

function marksIn(folder: string): string[] {
  try {
    return readFileSync(join(folder, "effects"), "utf8").trim().split("\n")
  } catch {
    return []
  }
}

function startWorker(...args: [place: string, folder: string, role: string, offset: string, leaseMs: string]): {
  child: ChildProcessWithoutNullStreams
  output: Promise<string>
} {
  const program = join(import.meta.dirname, "races", "zombie.ts")
  const child = spawn(process.execPath, ["--conditions=karst-source", program, ...args])
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
  })
  child.stderr.pipe(process.stderr)
  return { child, output: new Promise((resolve) => child.on("close", () => resolve(output))) }
}
