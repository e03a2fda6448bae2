// Cases of the backend suite: killed workers, and an unavailable server.
import assert from "node:assert/strict"
import { type BackendCheck, type BackendTrial, backendCase } from "./backend-case.ts"

export const troubleCases = {
  killed: backendCase("a job whose worker is killed, and the next one too, is handled by others", 2, async (trial) => {
    await trial.startProcesses(4, 1)
    await trial.push("hold a")
    for (let deaths = 0; deaths < 3; deaths++) {
      await trial.until(() => trial.begun().length === deaths + 1, `it is begun after ${deaths} deaths`)
      trial.kill(trial.begun().at(-1)?.pid)
    }
    await trial.until(() => trial.begun().length === 4, "it is begun once more")
    trial.release()
    await trial.until(() => trial.done().includes("hold a"), "it is done")
    assert.equal(new Set(trial.begun().map(({ pid }) => pid)).size, 4)
  }),

  "killed-amid": backendCase("no job is lost when workers are killed amid many", 4, async (trial) => {
    const runs = Array.from({ length: 300 }, (_, number) => `run ${number}`)
    await trial.startProcesses(4, 4)
    await trial.push("hold a", "hold b", ...runs)
    await trial.until(() => holders(trial).size > 0, "two are held")
    for (const pid of holders(trial).values()) trial.kill(pid)
    trial.release()
    await trial.until(() => new Set(trial.done()).size === 302, "all are done")
  }),

  outage: {
    promise: "workers go on when the server is back, with all that was pushed",
    needs: "outage",
    async check(trial) {
      await trial.start(1)
      await trial.push("hold a", "b")
      await trial.until(() => trial.begun().length === 1, "one is under way")
      const back = await trial.outage()
      const pushing = trial.push("c")
      trial.release()
      await back()
      await pushing
      await trial.push("d")
      await trial.until(() => new Set(trial.done()).size === 4, "all are done")
    },
  },
} satisfies Record<string, BackendCheck>

/** Returns the processes that handle the two held jobs; empty until both have started. */
function holders(trial: BackendTrial): Set<number> {
  const [a, b] = ["hold a", "hold b"].map((run) => trial.begun(run).at(-1)?.pid)
  return a === undefined || b === undefined ? new Set() : new Set([a, b])
}
