// Cases of the backend suite: jobs handled by healthy workers.
import assert from "node:assert/strict"
import { backendCase } from "./backend-case.ts"

export const jobCases = {
  handled: backendCase("each job is handled as it was pushed, before the start and after it", 2, async (trial) => {
    await trial.push("a", "b")
    await trial.start(2)
    await trial.push("c", "d")
    await trial.until(() => trial.done().length >= 4, "four are done")
    const found = trial.begun().map(({ run, revision }) => `${run}${revision}`)
    assert.deepEqual(found.sort(), ["a0", "b1", "c0", "d1"])
  }),

  order: backendCase("jobs are begun in the order they were pushed", 1, async (trial) => {
    const runs = Array.from({ length: 50 }, (_, number) => `run ${number}`)
    await trial.push(...runs.slice(0, 25))
    await trial.start(1)
    await trial.push(...runs.slice(25))
    await trial.until(() => trial.done().length >= 50, "all are done")
    assert.deepEqual(
      trial.begun().map(({ run }) => run),
      runs,
    )
  }),

  concurrency: backendCase("a process has as many under way as it may, and never more", 1, async (trial) => {
    await trial.push("hold 0", "hold 1", "hold 2", "hold 3", "hold 4", "hold 5", "hold 6")
    await trial.start(3)
    await trial.until(() => trial.begun().length === 3, "three are under way")
    trial.release()
    await trial.until(() => trial.done().length === 7, "all are done")
    let underWay = 0
    let most = 0
    for (const { what } of trial.lines()) {
      underWay += what === "begun" ? 1 : -1
      most = Math.max(most, underWay)
    }
    assert.equal(most, 3)
  }),

  queued: backendCase("queued counts the jobs that wait, and not those under way", 1, async (trial) => {
    assert.equal(await trial.backend.countQueued(), 0)
    await trial.push("hold 0", "hold 1", "hold 2")
    assert.equal(await trial.backend.countQueued(), 3)
    await trial.start(1)
    await trial.until(() => trial.begun().length === 1, "one is under way")
    assert.equal(await trial.backend.countQueued(), 2)
    trial.release()
    await trial.until(() => trial.done().length === 3, "all are done")
    assert.equal(await trial.backend.countQueued(), 0)
  }),

  stop: backendCase(
    "stop waits for the jobs under way and takes no new ones, which wait for the next start",
    1,
    async (trial) => {
      const stop = await trial.start(1)
      await trial.push("hold 0", "later")
      await trial.until(() => trial.begun().length === 1, "the first is under way")
      let isStopped = false
      const stopping = stop().then(() => (isStopped = true))
      for (let round = 0; round < 5; round++) await trial.backend.countQueued()
      assert.equal(isStopped, false)
      trial.release()
      await stopping
      await stop()
      assert.deepEqual(trial.done(), ["hold 0"])
      assert.equal(trial.begun("later").length, 0)
      assert.equal(await trial.backend.countQueued(), 1)
      await trial.start(1)
      await trial.until(() => trial.done().includes("later"), "the next start takes what waited")
    },
  ),

  push: backendCase("a handler may push, also where it is the only one", 1, async (trial) => {
    await trial.start(1)
    await trial.push("push a")
    await trial.until(() => trial.done().includes("pushed by push a"), "what it pushed is done")
    assert.equal(trial.begun("pushed by push a")[0]?.revision, 1)
  }),

  again: backendCase(
    "a run pushed while it waits is handled once, and pushed while it is under way once more afterwards",
    2,
    async (trial) => {
      for (const revision of [1, 2, 3]) await trial.backend.push({ run: "hold a", revision })
      assert.equal(await trial.backend.countQueued(), 1)
      await trial.start(2)
      await trial.until(() => trial.begun().length === 1, "it is under way")
      for (const revision of [4, 5]) await trial.backend.push({ run: "hold a", revision })
      await trial.push("b")
      await trial.until(() => trial.done().includes("b"), "another is done meanwhile")
      assert.equal(trial.begun("hold a").length, 1)
      trial.release()
      await trial.until(() => trial.done().length === 3, "it is done twice")
      assert.equal(trial.begun("hold a").at(-1)?.revision, 5)
    },
  ),

  rejection: backendCase("a job that a handler rejects is handed over again, while others go on", 2, async (trial) => {
    await trial.start(1)
    await trial.push("throw a", "b")
    await trial.until(() => trial.done().length === 2, "both are done")
    assert.equal(trial.begun("throw a").length, 3)
    assert.equal(trial.begun("b").length, 1)
    assert.equal(await trial.backend.countQueued(), 0)
  }),

  twice: backendCase(
    "started twice, both take from the one queue, and each is stopped for itself",
    1,
    async (trial) => {
      const stop = await trial.start(1)
      await trial.start(1)
      await trial.push("hold 0", "hold 1")
      await trial.until(() => trial.begun().length === 2, "both are under way")
      trial.release()
      await stop()
      await trial.push("after")
      await trial.until(() => trial.done().length === 3, "the other goes on")
    },
  ),

  many: backendCase("1,000 jobs over four workers are all done, and none twice", 4, async (trial) => {
    const runs = Array.from({ length: 1_000 }, (_, number) => `run ${number}`)
    await trial.startProcesses(4, 8)
    await Promise.all(runs.map((run) => trial.push(run)))
    await trial.until(() => trial.done().length >= 1_000, "all are done")
    assert.deepEqual(trial.done().sort(), runs.sort())
  }),
}
