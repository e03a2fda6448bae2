import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { RunResult } from "../../src/core/agent.ts"
import { AbortError, AgentError } from "../../src/core/errors.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { type RunBodyResult, type RunControl, startRun } from "../../src/core/run.ts"
import { trajectory } from "../../src/core/trajectory.ts"
import { noUsage } from "../../src/core/usage.ts"

function result(status: RunResult["status"] = "done", output = "ok"): RunResult {
  const completion = { by: "answer" } as const
  return { id: "r", status, output, completion, cycles: 0, usage: noUsage, messages: [], trajectory: trajectory([]) }
}

function start(
  body: (control: RunControl) => Promise<RunBodyResult>,
  more: Partial<Parameters<typeof startRun>[0]> = {},
) {
  const broken = (error: unknown): RunBodyResult => ({ result: result("failed"), error })
  return startRun({ id: "r", body, onBodyError: broken, now: () => 0, ...more })
}

async function all(run: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  return await Array.fromAsync(run)
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener("abort", resolve))
}

const types = (events: AgentEvent[]) => events.map((event) => event.type)

describe("a run", () => {
  test("starts without anybody awaiting or reading it", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    start(async () => {
      resolve()
      return { result: result() }
    })
    await promise
  })

  test("gives its result to who awaits it", async () => {
    assert.equal((await start(async () => ({ result: result("done", "hello") }))).output, "hello")
  })

  test("throws its own error to who awaits a failed run, and settles all the same", async () => {
    const error = new AgentError("no luck")
    const run = start(async () => ({ result: result("failed"), error }))
    await assert.rejects(async () => await run, error)
    assert.equal((await run.settled).status, "failed")
  })

  test("raises no unhandled rejection when nobody awaits a failed run", async () => {
    const run = start(async () => ({ result: result("failed"), error: new Error("lost") }))
    assert.equal((await run.settled).status, "failed")
    await new Promise((resolve) => setImmediate(resolve))
  })

  test("resolves for a run that was stopped or waits", async () => {
    assert.equal((await start(async () => ({ result: result("stopped") }))).status, "stopped")
    assert.equal((await start(async () => ({ result: result("waiting") }))).status, "waiting")
  })

  test("throws an AbortError to who awaits an aborted run", async () => {
    const run = start(async (control) => {
      await aborted(control.signal)
      return { result: result("aborted") }
    })
    run.abort("enough")
    await assert.rejects(
      async () => await run,
      (error) => error instanceof AbortError && error.message === "enough",
    )
  })

  test("can be awaited many times", async () => {
    const run = start(async () => ({ result: result() }))
    assert.equal(await run, await run)
  })

  test("gives every event in order and ends after run-end", async () => {
    const run = start(async (control) => {
      control.emit({ type: "cycle-start", cycle: 1 })
      control.emit({ type: "cycle-end", cycle: 1, usage: noUsage })
      return { result: result() }
    })
    const events = await all(run)
    assert.deepEqual(types(events), ["cycle-start", "cycle-end", "run-end"])
    assert.deepEqual(
      events.map((event) => event.seq),
      [0, 1, 2],
    )
  })

  test("replays everything to a late reader, deltas merged", async () => {
    const run = start(async (control) => {
      control.emit({ type: "cycle-start", cycle: 1 })
      for (const text of ["a", "b", "c"]) control.emit({ type: "text-delta", text })
      control.emit({ type: "reasoning-delta", text: "hm" })
      control.emit({ type: "text-delta", text: "d" })
      return { result: result() }
    })
    await run
    const events = await all(run)
    assert.deepEqual(types(events), ["cycle-start", "text-delta", "reasoning-delta", "text-delta", "run-end"])
    assert.equal(events[1]?.type === "text-delta" && events[1].text, "abc")
  })

  test("keeps the deltas of different cells apart when it merges them", async () => {
    const run = start(async (control) => {
      control.emit({ type: "code-delta", id: "1", of: "source", text: "a" })
      control.emit({ type: "code-delta", id: "1", of: "stdout", text: "b" })
      control.emit({ type: "code-delta", id: "2", of: "stdout", text: "c" })
      control.emit({ type: "code-delta", id: "2", of: "stdout", text: "d" })
      return { result: result() }
    })
    await run
    assert.deepEqual(types(await all(run)).length, 4)
  })

  test("gives a live reader each delta as it comes", async () => {
    const seen: string[] = []
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const run = start(async (control) => {
      control.emit({ type: "text-delta", text: "a" })
      await next[0]?.promise
      control.emit({ type: "text-delta", text: "b" })
      await next[1]?.promise
      return { result: result() }
    })
    for await (const event of run) {
      if (event.type !== "text-delta") continue
      seen.push(event.text)
      next[seen.length - 1]?.resolve()
    }
    assert.deepEqual(seen, ["a", "b"])
  })

  test("serves two readers independently", async () => {
    const run = start(async (control) => {
      for (let cycle = 1; cycle <= 3; cycle++) {
        control.emit({ type: "cycle-start", cycle })
        await Promise.resolve()
      }
      return { result: result() }
    })
    const [one, two] = await Promise.all([all(run), all(run)])
    assert.deepEqual(one, two)
    assert.equal(one.length, 4)
  })

  test("goes on when a reader leaves its loop", async () => {
    let finished = false
    const run = start(async (control) => {
      control.emit({ type: "cycle-start", cycle: 1 })
      await new Promise((resolve) => setImmediate(resolve))
      finished = true
      return { result: result() }
    })
    for await (const _ of run) break
    await run
    assert.equal(finished, true)
  })

  test("is aborted and awaited by `await using`", async () => {
    let stopped = false
    {
      await using _run = start(async (control) => {
        await aborted(control.signal)
        stopped = true
        return { result: result("aborted") }
      })
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(stopped, true)
  })

  test("hears the caller's signal", async () => {
    const controller = new AbortController()
    const run = start(
      async (control) => {
        await aborted(control.signal)
        return { result: result("aborted") }
      },
      { signal: controller.signal },
    )
    queueMicrotask(() => controller.abort())
    assert.equal((await run.settled).status, "aborted")
  })

  test("turns a throwing observer into one warning and goes on", async () => {
    const run = start(
      async (control) => {
        control.emit({ type: "cycle-start", cycle: 1 })
        control.emit({ type: "cycle-start", cycle: 2 })
        return { result: result() }
      },
      {
        onEvent: () => {
          throw new Error("observer down")
        },
      },
    )
    const events = await all(run)
    assert.deepEqual(types(events), ["cycle-start", "warning-raised", "cycle-start", "run-end"])
    assert.match(events[1]?.type === "warning-raised" ? events[1].message : "", /observer down/)
  })

  test("ends once even when its body breaks", async () => {
    const run = start(async () => {
      throw new Error("a bug")
    })
    assert.deepEqual(types(await all(run)), ["run-end"])
    await assert.rejects(async () => await run, /a bug/)
  })

  test("hands what was steered to its body, once", async () => {
    const run = start(async (control) => {
      await new Promise((resolve) => setImmediate(resolve))
      const first = control.takeSteered()
      return { result: result("done", JSON.stringify([first, control.takeSteered()])) }
    })
    run.steer("left")
    run.steer("right")
    assert.equal((await run).output, '[["left","right"],[]]')
  })

  test("passes an approval to the call that waits for it, and refuses an unknown one", async () => {
    const run = start(async (control) => ({ result: result("done", await control.awaitDecision("c1")) }))
    await new Promise((resolve) => setImmediate(resolve))
    assert.throws(() => run.approve("c2", "allow"), /No approval "c2"/)
    run.approve("c1", "always")
    assert.equal((await run).output, "always")
  })

  test("stamps a sub-agent's events with their parent", async () => {
    const run = start(async () => ({ result: result() }), { parent: "boss" })
    assert.equal((await all(run))[0]?.parent, "boss")
  })
})
