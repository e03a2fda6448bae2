// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, type RuntimeContext } from "karst"
import { scriptedModel } from "karst/models"
import { claude, codex } from "karst/providers"
import { eventsOfType } from "./cli-machines.ts"
import { createPlannedCliMachine } from "./planned-clis.ts"

const cell = (code: string) => ({ tool: "run", input: { code } })

describe("one runtime of several CLIs and agents", () => {
  test("is worked on by two CLIs at once, a cell at a time", async () => {
    await using machine = await createPlannedCliMachine({ Count: Array.from({ length: 5 }, () => cell("total += 1")) })
    const runtime = jsRuntime({ total: 0 })
    const options = { runtime, cwd: machine.cwd, env: machine.env }
    await Promise.all([claude(options).run("Count"), codex(options).run("Count")])
    assert.equal(await runtime.retrieve("total"), 10)
  })

  test("lets a CLI in while a cell of it waits for that CLI", async () => {
    await using machine = await createPlannedCliMachine({ Double: [cell("total *= 2"), "Doubled."] })
    const runtime = jsRuntime({ total: 21 })
    const helper = claude({ runtime, cwd: machine.cwd, env: machine.env })
    await runtime.inject({ helper })
    const model = scriptedModel(["```ts\nawait helper.run('Double')\ntotal\n```", "It is 42."])
    const { output, trajectory } = await createAgent({ model, runtime }).run("Have it doubled.")
    assert.equal(output, "It is 42.")
    assert.equal(await runtime.retrieve("total"), 42)
    const results = eventsOfType(trajectory.events, "tool-end").map(({ name, ok }) => [name, ok])
    assert.deepEqual(results, [["mcp__karst__run", true]])
  })

  test("is created by a factory that receives the session, the metadata and the signal", async () => {
    await using machine = await createPlannedCliMachine({ Go: ["Done."] })
    const received: RuntimeContext[] = []
    const agent = claude({
      cwd: machine.cwd,
      env: machine.env,
      metadata: { team: "a" },
      runtime(context) {
        received.push(context)
        return jsRuntime()
      },
    })
    const { signal } = new AbortController()
    await agent.run("Go", { metadata: { user: "ada" } })
    await using session = await agent.session({ signal })
    await session.send("Go")
    assert.deepEqual(
      received.map(({ session, metadata }) => ({ session, metadata })),
      [
        { session: undefined, metadata: { team: "a", user: "ada" } },
        { session: session.id, metadata: { team: "a" } },
      ],
    )
    assert.equal(received[1]?.signal, signal)
  })

  test("lets a session in that was opened before", async () => {
    await using machine = await createPlannedCliMachine({ Double: [cell("total *= 2"), "Doubled."] })
    const runtime = jsRuntime({ total: 21 })
    await using session = await claude({ runtime, cwd: machine.cwd, env: machine.env }).session()
    await session.send("Double")
    await runtime.inject({ ask: async () => (await session.send("Double")).output })
    const execution = await runtime.execute("await ask()\ntotal", { timeoutMs: 20_000 })
    assert.ok(execution.ok)
    assert.equal(execution.value, 84)
  })
})
