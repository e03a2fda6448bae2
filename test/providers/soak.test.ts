// test lane: clis, long
import assert from "node:assert/strict"
import { readdir, readFile } from "node:fs/promises"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type CliAgent, claude, codex, fallback } from "karst/providers"
import { fakeCliMachine, processIdsWith, waitUntil } from "./cli-machines.ts"

const turns = 200

// A seeded generator, so that a failed run can be repeated.
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

test(`${turns} turns over CLIs whose processes are killed at random leave no process, and no memory`, {
  timeout: 600_000,
}, async (context) => {
  await using place = await fakeCliMachine()
  const options = { ...place.options, idleTimeoutMs: 5000 }
  const random = randomFrom(Number(process.env.KARST_SEED ?? 7))
  const agents: CliAgent[] = [
    claude(options),
    codex(options),
    fallback(claude(options), codex(options), { failover: true }),
  ]
  const words = ["say a", "tool Read say b", "linger say c", "linger hang", "hang", "fail 500", "exit 3", "junk say d"]
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const statuses: Record<string, number> = {}
  const heaps: number[] = []

  async function turn(): Promise<void> {
    const agent = pick(agents) ?? claude(options)
    const prompt = pick(words) ?? "say a"
    const run = agent.run(prompt, { timeoutMs: 8000 })
    const strikes = prompt.includes("hang") || random() < 0.4
    if (strikes) {
      for await (const event of run) if (event.type === "raw-received" || event.type === "run-end") break
      await delay(random() * 30)
      // Kills the CLI or one of its children.
      const victim = pick(await processIdsWith(`HOME=${place.folder}`))
      if (prompt.includes("hang") && random() < 0.5) run.abort("enough")
      else if (victim !== undefined) kill(victim)
    }
    // Ends runs that hang and were not killed.
    const late = setTimeout(() => run.abort("late"), 4000)
    const { status } = await run.settled
    clearTimeout(late)
    statuses[status] = (statuses[status] ?? 0) + 1
    await run[Symbol.asyncDispose]()
  }

  for (let done = 0; done < turns; done += 4) {
    await Promise.all([turn(), turn(), turn(), turn()])
    if (done % 40 === 0) heaps.push(heapAfterCollection())
  }
  await waitUntil("no process is left", async () => (await place.processes()).length === 0)
  // Includes watchdogs and zombies.
  await waitUntil("this process has no children", async () => (await children()).length === 0)
  heaps.push(heapAfterCollection())
  const megabytes = heaps.map((bytes) => Math.round(bytes / 2 ** 20))
  context.diagnostic(`ends: ${JSON.stringify(statuses)}; heap in MB: ${megabytes.join(" ")}`)
  assert.ok((statuses.done ?? 0) > 0 && (statuses.failed ?? 0) > 0 && (statuses.aborted ?? 0) > 0)
  const [, second = 0] = megabytes
  assert.ok((megabytes.at(-1) ?? 0) < second + 20, `the heap grew: ${megabytes.join(" ")} MB`)
})

function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL")
  } catch {
    // It has ended.
  }
}

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}

/** The children of this process, zombies included. */
async function children(): Promise<string[]> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => {
      const stat = await readFile(`/proc/${id}/stat`, "utf8").catch(() => "")
      const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return Number(parent) === process.pid ? [stat] : []
    }),
  )
  return found.flat()
}
