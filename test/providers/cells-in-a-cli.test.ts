// test lane: clis
import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type CallContext, fn, jsRuntime, variable } from "karst"
import { type CliOptions, claude, fallback } from "karst/providers"
import { eventsOfType } from "./cli-machines.ts"
import { createPlannedCliMachine } from "./planned-clis.ts"

/** The result that the CLI gets for a cell. */
async function told(code: string, options: CliOptions): Promise<string> {
  await using machine = await createPlannedCliMachine({ Go: [{ tool: "run", input: { code } }, "Done."] })
  const { trajectory } = await claude({ ...options, cwd: machine.cwd, env: machine.env }).run("Go")
  return eventsOfType(trajectory.events, "tool-end")[0]?.text ?? ""
}

describe("a cell that a CLI has run", () => {
  test("is checked against the types first, where that is asked for", async () => {
    const runtime = jsRuntime({ total: variable(1) })
    assert.match(await told("total = 2; totl", { runtime, typeGate: "block" }), /Cannot find name 'totl'/)
    assert.equal(await runtime.retrieve("total"), 1)
  })

  test("is rolled back when it throws, where that is asked for", async () => {
    const runtime = jsRuntime({ total: variable(1) })
    assert.match(await told("total = 2; throw new Error('no')", { runtime, transaction: true }), /no/)
    assert.equal(await runtime.retrieve("total"), 1)
  })

  test("has the time that it is given", async () => {
    assert.match(await told("for (;;) {}", { runtime: jsRuntime(), cellTimeoutMs: 100 }), /100 ms/)
  })

  test("makes its calls by the hooks", async () => {
    const sent: string[] = []
    const runtime = jsRuntime({ send: fn((to: string) => void sent.push(to)) })
    const hooks = { beforeCall: () => ({ refuse: "Not on Fridays." }) }
    assert.match(await told("await send('Ada')", { runtime, hooks }), /Not on Fridays/)
    assert.deepEqual(sent, [])
  })

  test("tells its hooks the session and the metadata, also of a session with a fallback", async () => {
    const seen: unknown[] = []
    const runtime = jsRuntime({ send: fn((to: string) => to) })
    const hooks = {
      beforeCall(_call: unknown, { session, metadata }: CallContext) {
        seen.push({ session, metadata })
      },
    }
    const go = [{ tool: "run", input: { code: "await send('Ada')" } }, "Done."]
    await using machine = await createPlannedCliMachine({ Go: go })
    const agent = claude({ runtime, hooks, cwd: machine.cwd, env: machine.env, metadata: { tenant: "acme" } })
    const metadata = { tenant: "acme", user: "ada" }
    for (const each of [agent, fallback(agent)]) {
      await using session = await each.session()
      await session.send("Go", { metadata: { user: "ada" } })
      assert.deepEqual(seen.splice(0), [{ session: session.id, metadata }])
    }
    await agent.run("Go")
    assert.deepEqual(seen, [{ session: undefined, metadata: { tenant: "acme" } }])
  })

  test("has no other hooks than those of calls", () => {
    assert.throws(
      () => claude({ hooks: { beforeModel() {} } as object }),
      /hooks: .*beforeModel.*beforeCall, afterCall/,
    )
  })

  test("leaves nothing of the token of its server in the record", async () => {
    await using machine = await createPlannedCliMachine({ Go: [{ tool: "run", input: { code: "total" } }, "Done."] })
    const agent = claude({ runtime: jsRuntime({ total: 1 }), cwd: machine.cwd, env: machine.env })
    await using session = await agent.session({ archive: machine.cwd })
    await session.send("Go")
    const files = globSync("**/*", { cwd: machine.cwd, withFileTypes: true }).filter((entry) => entry.isFile())
    const kept = files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1"))
    assert.ok(kept.join().includes("mcp__karst__run"))
    // A secret of 256 random bits, in any encoding.
    assert.doesNotMatch(`${kept.join()}${JSON.stringify(session.trajectory())}`, /Bearer|[\w-]{43}/)
  })
})
