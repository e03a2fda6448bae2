// test lane: durable, long
// The programs of docs/scaling.md, which are in test/docs/scaling, run as they are shown there.
import assert from "node:assert/strict"
import { execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { startRedis } from "../redis.ts"
import { requires } from "../system.ts"
import { until } from "../waiting.ts"
import { workIn } from "./surroundings.ts"

const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
const fileOf = (name: string) => fileURLToPath(new URL(`./scaling/${name}`, import.meta.url))

describe("a backend decides where runs are executed", () => {
  test("in this process, in a pool, or by a queue in Redis", { skip: requires("redis") }, async (t) => {
    const folder = await workIn(t)
    await using redis = await startRedis()
    const program = `
      import { alone, engine, shared } from ${JSON.stringify(fileOf("backends.ts"))}
      const outputs = []
      for (const [backend, working] of [[undefined, alone], ["pool", engine], ["queue", shared]]) {
        const { id } = await working.submit("analyst", "Which month was best?")
        if (backend) outputs.push((await working.get(id)).status)
        if (backend) await working.work({ maxParallel: 1 })
        outputs.push((await working.result(id)).output)
        await working.close()
      }
      console.log(JSON.stringify({ outputs, pid: process.pid }))
      process.exit()`
    await writeFile("program.mjs", program)
    const env = { ...process.env, REDIS_URL: redis.url }
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, "program.mjs"], { cwd: folder, env })
    const { outputs, pid }: { outputs: string[]; pid: number } = JSON.parse(stdout)
    const [here, beforeWork, inPool, beforeQueue, byQueue] = outputs
    // With a backend no run is executed until a process calls work().
    assert.deepEqual([here, beforeWork, beforeQueue, byQueue], [`process ${pid}`, "queued", "queued", `process ${pid}`])
    assert.match(inPool ?? "", /^process \d+$/)
    assert.notEqual(inPool, `process ${pid}`)
  })

  test("a server that works with a pool has four worker processes, which end with it", async (t) => {
    const folder = await workIn(t)
    const server = spawn(process.execPath, [...flags, fileOf("server.ts")], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    })
    t.after(() => server.kill("SIGKILL"))
    const [line] = await once(createInterface(server.stdout), "line")
    const workers = childrenOf(server.pid)
    assert.equal(workers.length, 4)
    assert.ok(workers.includes(/^process (\d+)$/.exec(line)?.[1] ?? ""), line)
    server.kill("SIGKILL")
    await until(() => !workers.some(isAlive))
  })
})

function childrenOf(pid: number | undefined): string[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
  return stdout.split("\n").flatMap((line) => line.trim() || [])
}

function isAlive(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}
