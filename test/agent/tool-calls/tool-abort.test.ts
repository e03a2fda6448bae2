import assert from "node:assert/strict"
import { describe, test } from "node:test"
import * as z from "zod"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { Run } from "../../../src/core/agent.ts"
import { ModelError } from "../../../src/core/errors.ts"
import { isPaired } from "../../../src/memory/call-result-pairs.ts"
import { withRetry } from "../../../src/models/retry.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool } from "../../../src/tools/tool.ts"
import { endlessStep } from "../scripted-agents.ts"
import { call, calls, errorCodeOf, finish, toolEnds } from "../tool-call-helpers.ts"

const note = tool({ name: "note", description: "Notes.", run: () => "noted" })

/** A tool that waits for its signal, or forever; `begun` resolves when it is called. */
function waiting(listens = true) {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const heard: unknown[] = []
  const made = tool({
    name: "wait",
    description: "Waits.",
    run(_input, { signal }) {
      resolve()
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          heard.push(signal.reason)
          if (listens) reject(signal.reason)
        })
      })
    },
  })
  return { made, begun, heard }
}

// The outcome is the same wherever the run was stopped, and the conversation can be continued.
async function assertAborted(run: Run): Promise<void> {
  const { status, completion, messages, error } = await run.settled
  assert.equal(status, "aborted")
  assert.deepEqual(completion, { by: "abort" })
  assert.equal(error, undefined)
  assert.ok(isPaired(messages))
  await assert.rejects(Promise.resolve(run), { name: "AbortError" })
}

describe("an abort", () => {
  test("stops a model in the middle of its answer", async () => {
    const { step, begun } = endlessStep()
    const run = createAgent({ noTool: "continue", model: scriptedModel([step]), tools: [note] }).run("go")
    await begun
    run.abort()
    await assertAborted(run)
  })

  test("stops the sleep before a retry", async () => {
    const { promise: asleep, resolve } = Promise.withResolvers<void>()
    const busy = new ModelError("busy", { code: "overloaded", retryable: true })
    const sleep = (_ms: number, signal: AbortSignal) => {
      resolve()
      return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
    }
    const run = createAgent({
      noTool: "continue",
      model: withRetry(scriptedModel([busy]), { sleep }),
      tools: [note],
    }).run("go")
    await asleep
    run.abort()
    await assertAborted(run)
  })

  for (const listens of [true, false]) {
    test(`stops a running tool that ${listens ? "listens to" : "ignores"} its signal, and answers the rest`, async () => {
      const { made, begun, heard } = waiting(listens)
      const model = scriptedModel([calls(call("note"), call("wait"), call("note"))])
      const run = createAgent({ noTool: "continue", model, tools: [made, note] }).run("go")
      await begun
      run.abort("enough")
      await assertAborted(run)
      assert.equal(heard.length, 1)
      const { trajectory, messages } = await run.settled
      assert.deepEqual(toolEnds(trajectory.events).map(errorCodeOf), [undefined, "aborted", "skipped-aborted"])
      assert.match(JSON.stringify(messages.at(-1)), /interrupted here/)
    })
  }

  test("by a signal with any reason is the same", async () => {
    for (const reason of [new DOMException("late", "TimeoutError"), "a word", undefined]) {
      const { made, begun } = waiting()
      const controller = new AbortController()
      const model = scriptedModel([calls(call("wait"), call("note"))])
      const run = createAgent({ noTool: "continue", model, tools: [made, note] }).run("go", {
        signal: controller.signal,
      })
      await begun
      controller.abort(reason)
      await assertAborted(run)
      const { trajectory } = await run.settled
      assert.deepEqual(toolEnds(trajectory.events).map(errorCodeOf), ["aborted", "skipped-aborted"])
    }
  })

  test("stops a run that a tool has started, and so on down", async () => {
    const { made, begun } = waiting()
    const child = createAgent({
      noTool: "continue",
      name: "child",
      model: scriptedModel([calls(call("wait"))]),
      tools: [made],
    })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("go")).output })
    const middle = createAgent({
      noTool: "continue",
      name: "middle",
      model: scriptedModel([calls(call("spawn"))]),
      tools: [spawn],
    })
    const outer = tool({ name: "outer", description: "", run: async () => (await middle.run("go")).output })
    const run = createAgent({ noTool: "continue", model: scriptedModel([calls(call("outer"))]), tools: [outer] }).run(
      "go",
    )
    await begun
    run.abort()
    await assertAborted(run)
    const ends = (await run.settled).trajectory.events.filter((event) => event.type === "run-end")
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["aborted", "aborted", "aborted"],
    )
  })

  test("while an approval is waited for ends the wait", async () => {
    const asking = tool({ name: "asking", description: "", approve: true, run: () => assert.fail("not to be called") })
    const run = createAgent({
      noTool: "continue",
      model: scriptedModel([calls(call("asking"), call("note"))]),
      tools: [asking, note],
    }).run("go", {
      approver: "events",
    })
    for await (const event of run) if (event.type === "approval-requested") run.abort()
    await assertAborted(run)
  })

  test("while a hook is at work does not wait for it", async () => {
    for (const point of ["beforeRun", "beforeModel", "afterModel", "beforeCall", "afterCall", "afterCycle"] as const) {
      const { promise: begun, resolve } = Promise.withResolvers<void>()
      const hook = () => {
        resolve()
        return new Promise<never>(() => undefined)
      }
      const model = scriptedModel([calls(call("note"))])
      const run = createAgent({ noTool: "continue", model, tools: [note], hooks: { [point]: hook } }).run("go")
      await begun
      run.abort()
      await assertAborted(run)
    }
  })

  test("does not wait for a question whether to ask, nor for a schema", async () => {
    for (const hangs of ["approve", "input"]) {
      const { promise: begun, resolve } = Promise.withResolvers<void>()
      const hang = () => {
        resolve()
        return new Promise<never>(() => undefined)
      }
      const options = hangs === "approve" ? { approve: hang } : { input: z.object({}).refine(hang) }
      const made = tool({ name: "made", description: "", run: () => "made", ...options })
      const run = createAgent({ noTool: "continue", model: scriptedModel([calls(call("made"))]), tools: [made] }).run(
        "go",
      )
      await begun
      run.abort()
      await assertAborted(run)
    }
  })

  test("does not wait for a variable that what is too long is kept in, nor for a conversation that is made shorter", async () => {
    const many = tool({ name: "many", description: "", run: () => "word ".repeat(900) })
    for (const { hangs, options } of [
      { hangs: "keep", options: { maxOutputChars: 100 } },
      { hangs: "keep", options: { contextWindow: 6000 } },
      { hangs: "beforeCompact", options: { contextWindow: 6000 } },
      { hangs: "afterCompact", options: { contextWindow: 6000 } },
    ]) {
      const { promise: begun, resolve } = Promise.withResolvers<void>()
      const hang = () => {
        resolve()
        return new Promise<never>(() => undefined)
      }
      const model = scriptedModel(() => calls(call("many")))
      const place = hangs === "keep" ? { runtime: { ...jsRuntime(), keep: hang } } : { hooks: { [hangs]: hang } }
      const run = createAgent({
        model,
        tools: [many],
        limits: { cycles: 30 },
        ...place,
        ...options,
      }).run("go")
      await begun
      run.abort()
      await assertAborted(run)
    }
  })

  test("of a call that took too long ends the run that the call has started", async () => {
    const { made, begun } = waiting()
    const child = createAgent({
      noTool: "continue",
      name: "child",
      model: scriptedModel([calls(call("wait"))]),
      tools: [made],
    })
    const spawn = tool({
      name: "spawn",
      description: "",
      timeoutMs: 20,
      run: async () => (await child.run("go")).output,
    })
    const model = scriptedModel([calls(call("spawn")), calls(finish())])
    const run = createAgent({ noTool: "continue", model, tools: [spawn] }).run("go")
    await begun
    const { status, trajectory } = await run
    assert.equal(status, "done")
    assert.equal(errorCodeOf(toolEnds(trajectory.events).find(({ name }) => name === "spawn")), "timeout")
    const childEnd = trajectory.events.find((event) => event.type === "run-end" && event.run !== run.id)
    assert.equal(childEnd?.type === "run-end" && childEnd.status, "aborted")
  })

  test("leaves a conversation that the session goes on with", async () => {
    const { made, begun } = waiting()
    const model = scriptedModel([calls(call("wait"), call("note")), calls(finish("Here again."))])
    await using session = await createAgent({ noTool: "continue", model, tools: [made, note] }).session()
    const run = session.send("go")
    await begun
    run.abort()
    await run.settled
    assert.equal((await session.send("go on")).output, "Here again.")
    assert.ok(isPaired(model.requests[1]?.messages ?? []))
  })

  test("is told in order, stamped by the clock the agent was given", async () => {
    let now = 1000
    const { made, begun } = waiting()
    const model = scriptedModel([calls(call("wait", {}, "w"), call("note", {}, "n"))])
    const run = createAgent({ noTool: "continue", model, tools: [made, note], now: () => now++ }).run("go")
    await begun
    run.abort()
    const events = await Array.fromAsync(run)
    assert.deepEqual(
      events.map((event) => ("id" in event ? `${event.type} ${event.id}` : event.type)),
      [
        ...["run-start", "cycle-start", "message-end", "tool-start w", "tool-end w", "tool-end n"],
        ...["prompt-steered", "cycle-end", "run-end"],
      ],
    )
    const times = events.map(({ at }) => at)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
    )
  })
})
