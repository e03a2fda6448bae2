import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, type HookContext, type Hooks, jsRuntime, tool } from "karst"
import { createEngine } from "karst/engine"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"

/** Hooks that note what each of them is told, in order. */
function notingHooks() {
  const seen: { hook: string; session: string | undefined; metadata: HookContext["metadata"]; agent: string }[] = []
  const note = (hook: string, { session, metadata, agent }: HookContext): void => {
    seen.push({ hook, session, metadata, agent })
  }
  const hooks: Hooks = {
    beforeRun: (_, context) => note("beforeRun", context),
    afterRun: (_, context) => note("afterRun", context),
    beforeModel: (_, context) => note("beforeModel", context),
    afterModel: (_, context) => note("afterModel", context),
    afterCycle: (_, context) => note("afterCycle", context),
    beforeCall: (_, context) => note("beforeCall", context),
    afterCall: (_call, _outcome, context) => note("afterCall", context),
  }
  return { seen, hooks }
}

const everyHook = ["afterCall", "afterCycle", "afterModel", "afterRun", "beforeCall", "beforeModel", "beforeRun"]

function addingAgent(hooks: Hooks) {
  const steps = (): ScriptedStep[] => ["```ts\nadd(1, 2)\n```", "3"]
  const answers = [...steps(), ...steps()]
  const model = scriptedModel(() => answers.shift() ?? "3")
  const runtime = () => jsRuntime({ add: (a: number, b: number) => a + b })
  return createAgent({ model, runtime, hooks, metadata: { tenant: "acme" } })
}

describe("a hook is told the session and the metadata of its run", () => {
  test("in a run outside of sessions: no session, and the metadata of agent and run", async () => {
    const { seen, hooks } = notingHooks()
    await addingAgent(hooks).run("Add.", { metadata: { user: "ada" } })
    assert.deepEqual([...new Set(seen.map(({ hook }) => hook))].sort(), everyHook)
    for (const { session, metadata } of seen) {
      assert.equal(session, undefined)
      assert.deepEqual(metadata, { tenant: "acme", user: "ada" })
    }
  })

  test("and cannot change them for the agent, the caller or later runs", async () => {
    const limits = { rows: 1 }
    const seen: unknown[] = []
    const hooks: Hooks = {
      beforeRun(_, { metadata }) {
        seen.push(structuredClone(metadata))
        for (const part of [metadata, metadata.limits, metadata.roles]) assert.ok(Object.isFrozen(part))
        assert.throws(() => Object.assign(metadata.limits ?? {}, { rows: 2 }), TypeError)
      },
    }
    const agent = createAgent({ model: scriptedModel(() => "ok"), hooks, metadata: { limits } })
    for (const role of ["reader", "writer"]) {
      const roles = [role]
      const { status, error } = await agent.run("Begin.", { metadata: { roles } })
      assert.deepEqual([status, error, roles, Object.isFrozen(roles)], ["done", undefined, [role], false])
    }
    assert.deepEqual(seen, [
      { limits: { rows: 1 }, roles: ["reader"] },
      { limits: { rows: 1 }, roles: ["writer"] },
    ])
    assert.deepEqual([limits, Object.isFrozen(limits)], [{ rows: 1 }, false])
  })

  test("in a session, also in one that was resumed", async () => {
    const { seen, hooks } = notingHooks()
    const archive = await mkdtemp(join(tmpdir(), "karst-hooks-"))
    try {
      for (const turn of [1, 2]) {
        await using session = await addingAgent(hooks).session({ id: "user-42", archive, metadata: { plan: "free" } })
        await session.send("Add.", { metadata: { turn } })
      }
    } finally {
      await rm(archive, { recursive: true })
    }
    assert.deepEqual(new Set(seen.map(({ session }) => session)), new Set(["user-42"]))
    assert.deepEqual(seen[0]?.metadata, { tenant: "acme", plan: "free", turn: 1 })
    assert.equal(seen.at(-1)?.metadata.turn, 2)
  })

  test("in a fork: the id of the fork", async () => {
    const { seen, hooks } = notingHooks()
    await using session = await addingAgent(hooks).session()
    await session.send("Add.")
    await using fork = await session.fork?.()
    assert.ok(fork)
    await fork.send("Again.")
    assert.notEqual(fork.id, session.id)
    assert.equal(seen.at(-1)?.session, fork.id)
    await session.send("Once more.")
    assert.equal(seen.at(-1)?.session, session.id)
  })

  test("in a durable run: what was given to submit, and the metadata of the agent", async () => {
    const { seen, hooks } = notingHooks()
    await using engine = createEngine({ agents: { agent: addingAgent(hooks) }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Add.", { session: "user-42", metadata: { user: "ada" } })
    await engine.result(id)
    assert.deepEqual([...new Set(seen.map(({ hook }) => hook))].sort(), everyHook)
    for (const { session, metadata } of seen) {
      assert.equal(session, "user-42")
      assert.deepEqual(metadata, { tenant: "acme", user: "ada" })
    }
  })

  test("in a child run: the session of the run that started it, and the metadata of both", async () => {
    const { seen, hooks } = notingHooks()
    const lookup = tool({ name: "lookup", description: "Looks something up.", run: () => "found" })
    const child = createAgent({
      name: "child",
      model: scriptedModel([[{ type: "tool-call", id: "c1", name: "lookup", input: {} }], "found"]),
      tools: [lookup],
      metadata: { role: "search", user: "child" },
    })
    const model = scriptedModel(["```ts\nawait child.run('x')\n```", "done"])
    const parent = createAgent({ name: "parent", model, runtime: () => jsRuntime({ child }), hooks })
    await using session = await parent.session({ metadata: { user: "ada", plan: "free" } })
    await session.send("Search.")
    const inChild = seen.filter(({ agent }) => agent === "child")
    assert.ok(inChild.some(({ hook }) => hook === "beforeCall"))
    for (const { session: told, metadata } of inChild) {
      assert.equal(told, session.id)
      assert.deepEqual(metadata, { user: "child", plan: "free", role: "search" })
    }
  })

  test("as a value that it cannot change for others", async () => {
    const changing: Hooks = {
      beforeRun(_, { metadata }) {
        assert.throws(() => Object.assign(metadata, { user: "eve" }), TypeError)
      },
    }
    const { status } = await addingAgent(changing).run("Add.")
    assert.equal(status, "done")
  })
})
