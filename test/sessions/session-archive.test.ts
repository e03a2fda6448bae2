// test lane: durable
import assert from "node:assert/strict"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { AgentError, ConfigError, ConflictError, ModelError } from "../../src/core/errors.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import { loadSession } from "../../src/sessions/load-session.ts"
import { deleteSession, listSessions } from "../../src/sessions/session-archive.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import type { Store } from "../../src/stores/store.ts"
import { cell, freshFolder } from "./session-fixtures.ts"

describe("an archived session", () => {
  test("is a folder of events, a line each, without deltas", async () => {
    await using folder = await freshFolder()
    const agent = createAgent({ model: scriptedModel(["Grüße, 世界 🌍"]) })
    await using session = await agent.session({ archive: folder.path })
    await session.send("Say hello in ünicode 🌍")
    assert.equal(session.directory, join(folder.path, "sessions", session.id))
    const lines = (await readFile(join(session.directory, "events.jsonl"), "utf8")).trim().split("\n")
    const events = lines.map((line) => JSON.parse(line))
    assert.deepEqual(events, JSON.parse(JSON.stringify(session.trajectory().events)))
    assert.equal(events.at(-1).output, "Grüße, 世界 🌍")
    assert.ok(events.every(({ type }) => !type.endsWith("-delta")))
  })

  test("goes on where it was, with its conversation, its numbers and its objects", async () => {
    await using folder = await freshFolder()
    const factory = () => jsRuntime({ tasks: [] as string[] })
    const first = createAgent({
      model: scriptedModel([
        cell("tasks.push('a'); const best = new Map([['May', 3]]); const shared = { best }"),
        "Done.",
      ]),
      runtime: factory,
    })
    const session = await first.session({ archive: folder.path })
    await session.send("Work")
    await session.close()

    const model = scriptedModel([cell("[tasks.length, best.get('May'), shared.best === best]"), "Three."])
    await using resumed = await createAgent({ model, runtime: factory }).session({ resume: session.handle })
    const result = await resumed.send("And?")
    assert.equal(resumed.id, session.id)
    assert.match(JSON.stringify(result.messages), /\[1,3,true\]|1, 3, true/)
    assert.match(JSON.stringify(model.requests[0]?.messages), /Work[\s\S]*And\?/)
    assert.equal(model.requests[0]?.system, session.trajectory().system)
    const { runs, events } = resumed.trajectory()
    assert.deepEqual(
      runs.map(({ status }) => status),
      ["done", "done"],
    )
    assert.deepEqual(events.slice(0, session.trajectory().events.length), session.trajectory().events)
  })

  test("tells the model by name what did not come back", async () => {
    await using folder = await freshFolder()
    const first = createAgent({
      model: scriptedModel([cell("const pending = new (class Socket { #s = 1 })(); const n = 1"), "ok"]),
    })
    const session = await first.session({ archive: folder.path })
    await session.send("x")
    await session.close()
    const model = scriptedModel(["ok", "ok"])
    await using resumed = await createAgent({ model }).session({ resume: session.id, archive: folder.path })
    await resumed.send("y")
    await resumed.send("z")
    const told = model.requests.map(({ messages }) => JSON.stringify(messages).match(/in a new runtime/g)?.length)
    assert.deepEqual(told, [1, 1], "once, and it stays in the conversation")
    assert.match(JSON.stringify(model.requests[0]?.messages), /- pending/)
    assert.equal(await resumed.runtime?.retrieve("n"), 1)
  })

  test("tells that objects of a shared runtime were not kept", async () => {
    await using folder = await freshFolder()
    const first = createAgent({ model: scriptedModel([cell("const n = 1"), "ok"]), runtime: jsRuntime() })
    const session = await first.session({ archive: folder.path })
    await session.send("x")
    await session.close()
    const model = scriptedModel(["ok"])
    await using resumed = await createAgent({ model, runtime: jsRuntime() }).session({ resume: session.handle })
    await resumed.send("y")
    assert.match(JSON.stringify(model.requests[0]?.messages), /- n: the runtime is shared/)
  })

  test("comes back in a process of its own, and says that a shared runtime is not kept", async () => {
    const store = memoryStore()
    const factory = () => processRuntime({ add: (a: number, b: number) => a + b })
    const model = scriptedModel([
      cell("const rows = [1, await add(1, 1)]"),
      "ok",
      cell("rows.concat(await add(2, 2))"),
      "ok",
    ])
    const agent = createAgent({ model, runtime: factory })
    const session = await agent.session({ archive: store })
    await session.send("x")
    await session.close()
    await using resumed = await agent.session({ resume: session.id, archive: store })
    const { messages, trajectory } = await resumed.send("y")
    assert.match(JSON.stringify(messages.at(-2)), /1, 2, 4/)
    assert.ok(!trajectory.events.some(({ type }) => type === "warning-raised"))

    await using runtime = jsRuntime()
    await using shared = await createAgent({ model: scriptedModel(["a", "b"]), runtime }).session({ archive: store })
    const warnings = async (prompt: string) => {
      const { events } = (await shared.send(prompt)).trajectory
      return events.flatMap((event) => (event.type === "warning-raised" ? [event.code] : []))
    }
    assert.deepEqual([await warnings("x"), await warnings("y")], [["archive"], []])
  })

  test("keeps no recording where none is wanted", async () => {
    await using folder = await freshFolder()
    await using session = await createAgent({ model: scriptedModel(["a"]) }).session({
      archive: folder.path,
      recording: false,
    })
    await session.send("x")
    assert.deepEqual((await readdir(session.directory ?? "")).sort(), ["events.jsonl", "session.json", "snapshot.bin"])
  })

  test("fails the run that cannot be written down, and goes on with all of it once it can", async () => {
    const store = memoryStore()
    let isFull = false
    const full: Store = {
      ...store,
      async commit(changes, guard) {
        if (isFull) throw new AgentError("There is no room left.", { code: "no-space", retryable: true })
        return await store.commit(changes, guard)
      },
    }
    let effects = 0
    const runtime = () => jsRuntime({ effect: () => ++effects })
    const model = scriptedModel([
      () => {
        isFull = true
        return cell("await effect()")
      },
      "never asked for",
      "ok",
    ])
    const session = await createAgent({ model, runtime }).session({ archive: full })
    await assert.rejects(async () => await session.send("x"), { code: "no-space" })
    assert.equal(effects, 1)
    isFull = false
    await session.send("y")
    await session.close()
    const { runs, events } = (await loadSession(store, session.id)).trajectory()
    assert.deepEqual(events, session.trajectory().events)
    assert.deepEqual(
      runs.map(({ status, error }) => [status, error?.code]),
      [
        ["failed", "no-space"],
        ["done", undefined],
      ],
    )
  })

  test("keeps images and the events of sub-agents", async () => {
    const store = memoryStore()
    const helper = createAgent({ model: scriptedModel(["helped"]), name: "helper", description: "Helps" })
    const model = scriptedModel([cell("await helper.run('help')"), "ok"])
    const agent = createAgent({ model, runtime: () => jsRuntime({ helper }) })
    const session = await agent.session({ archive: store })
    await session.send([
      { type: "text", text: "look" },
      { type: "image", mediaType: "image/png", data: "aGk=" },
    ])
    await session.close()
    const loaded = await loadSession(store, session.id)
    assert.deepEqual(loaded.trajectory(), session.trajectory())
    assert.ok(loaded.trajectory().events.some(({ parent }) => parent !== undefined))
    assert.deepEqual(loaded.messages()[0]?.parts[1], { type: "image", mediaType: "image/png", data: "aGk=" })
  })

  test("keeps what was allowed for good", async () => {
    const store = memoryStore()
    const factory = () => jsRuntime({ wipe: fn(() => "wiped", { approve: true }) })
    const asked: string[] = []
    const approve = ({ binding }: { binding: string }) => {
      asked.push(binding)
      return "always" as const
    }
    const script = () => scriptedModel([cell("await wipe()"), "ok"])
    const session = await createAgent({ model: script(), runtime: factory, approver: approve }).session({
      archive: store,
    })
    await session.send("x")
    await session.close()
    await using resumed = await createAgent({ model: script(), runtime: factory, approver: approve }).session({
      resume: session.id,
      archive: store,
    })
    await resumed.send("y")
    assert.deepEqual(asked, ["wipe"])
  })

  test("is not there before its first send", async () => {
    await using folder = await freshFolder()
    const session = await createAgent({ model: scriptedModel([]) }).session({ archive: folder.path })
    await session.close()
    assert.deepEqual(await listSessions(folder.path), [])
  })

  test("forks into another one with the same past, each on its own from there", async () => {
    await using folder = await freshFolder()
    const model = scriptedModel([cell("let n = 1"), "ok", cell("n = 2"), "two", cell("n"), "one"])
    await using session = await createAgent({ model }).session({ archive: folder.path })
    await session.send("x")
    await using fork = await (session.fork?.() ?? assert.fail("no fork"))
    await session.send("change it")
    const { messages } = await fork.send("what is it?")
    assert.match(JSON.stringify(messages), /<output>\\n1\\n/)
    assert.notEqual(fork.id, session.id)
    const loaded = await loadSession(folder.path, fork.id)
    assert.equal(loaded.trajectory().runs.length, 2)
  })
})

test("a resumed session does not accept other messages", async () => {
  const archive = memoryStore()
  const agent = createAgent({ model: scriptedModel(["a"]) })
  const session = await agent.session({ archive })
  await session.send("x")
  await session.close()
  const both = { resume: session.handle, archive, messages: session.messages() }
  await assert.rejects(agent.session(both), { name: "ConfigError", message: /`messages` or `resume`/ })
  await using resumed = await agent.with({ messages: session.messages() }).session({ resume: session.handle, archive })
  assert.equal(resumed.messages().length, 2)
})

describe("handles", () => {
  test("name a folder, and no store", async () => {
    await using folder = await freshFolder()
    const agent = createAgent({ model: scriptedModel(["a", "b"]) })
    await using inFolder = await agent.session({ archive: folder.path })
    await using inStore = await agent.session({ archive: memoryStore() })
    assert.equal(inFolder.handle, `karst:1:${inFolder.id}@${folder.path}`)
    assert.equal(inStore.handle, `karst:1:${inStore.id}`)
    assert.equal(inStore.directory, undefined)
    await assert.rejects(agent.session({ resume: inStore.handle }), /without its archive/)
    await assert.rejects(agent.session({ resume: inStore.id }), ConfigError)
    await assert.rejects(agent.session({ resume: "karst:3:x" }), /version 3/)
    await assert.rejects(
      agent.session({ resume: "s_nothing", archive: folder.path }),
      /There is no session "s_nothing"/,
    )
  })

  test("work with another archive that is given beside them", async () => {
    await using folder = await freshFolder()
    const store = memoryStore()
    const agent = createAgent({ model: scriptedModel(["a", "b"]) })
    const session = await agent.session({ archive: store })
    await session.send("x")
    await session.close()
    await using resumed = await agent.session({ resume: `karst:1:${session.id}@${folder.path}`, archive: store })
    assert.equal((await resumed.send("y")).output, "b")
  })
})

describe("the archive", () => {
  test("lists the newest first, searches what was said, and deletes", async () => {
    await using folder = await freshFolder()
    const agent = createAgent({
      name: "teller",
      model: scriptedModel(["the Rhine", "the Danube"]),
      metadata: { team: "a" },
    })
    for (const prompt of ["A river in Germany?", "One in Austria?"]) {
      const session = await agent.session({ archive: folder.path })
      await session.send(prompt)
      await session.close()
    }
    const all = await listSessions(folder.path)
    assert.deepEqual(
      all.map(({ title }) => title),
      ["One in Austria?", "A river in Germany?"],
    )
    assert.deepEqual(all[0]?.metadata, { team: "a" })
    assert.equal(all[0]?.status, "done")
    assert.ok(all[0]?.completedAt)
    const [found, ...rest] = await listSessions(folder.path, { search: "rhine" })
    assert.equal(found?.title, "A river in Germany?")
    assert.deepEqual(rest, [])
    assert.deepEqual(await listSessions(folder.path, { agent: "other" }), [])
    await deleteSession(folder.path, found?.id ?? "")
    assert.equal((await listSessions(folder.path)).length, 1)
    await assert.rejects(loadSession(folder.path, found?.id), /There is no session/)
  })

  test("marks a session whose last run met the account's limit", async () => {
    const store = memoryStore()
    const model = scriptedModel([new ModelError("Too many requests", { code: "rate-limited" }), "fine"])
    const session = await createAgent({ model }).session({ archive: store })
    await session.send("x").settled
    assert.equal(session.trajectory().usageLimited, true)
    assert.equal((await listSessions(store))[0]?.usageLimited, true)
    await session.send("y")
    const closed = await session.close()
    assert.equal(closed.usageLimited, undefined)
    assert.ok(closed.completedAt)
    assert.equal((await listSessions(store))[0]?.usageLimited, undefined)
  })

  test("loads to read only, from an id, a handle, a folder or a saved file", async () => {
    await using folder = await freshFolder()
    const session = await createAgent({ model: scriptedModel(["a"]) }).session({ archive: folder.path })
    await session.send("x")
    const file = join(folder.path, "saved.json")
    const closed = await session.close()
    await session.save(file)
    const loaded = await Promise.all([
      loadSession(folder.path, session.id),
      loadSession(session.handle),
      loadSession(session.directory ?? ""),
      loadSession(file),
    ])
    for (const each of loaded) {
      assert.deepEqual(each.trajectory(), closed)
      assert.equal(each.id, session.id)
      assert.throws(() => each.send("y"), /loaded to be read/)
      assert.throws(() => each.followUp("y"), { code: "read-only" })
    }
    await assert.rejects(loadSession(folder.path), /not the folder of one session/)
    await assert.rejects(loadSession(join(folder.path, "nothing")), /There is no file or folder/)
  })
})

describe("a session under way", () => {
  test("is stored in whole cycles, whatever comes while a commit is under way", async () => {
    const store = memoryStore()
    const commits: string[][] = []
    const slow: Store = {
      ...store,
      async commit(changes, guard) {
        const items = changes.flatMap((change) => (change.type === "append" ? change.items : []))
        commits.push(items.map((item) => String((item as { type?: string }).type)))
        await new Promise(setImmediate)
        return await store.commit(changes, guard)
      },
    }
    const agent = createAgent({ model: scriptedModel([cell("1"), "ok", "ok"]) })
    await using session = await agent.session({ archive: slow, recording: false })
    await Promise.all([session.send("x"), session.followUp("y")])
    const ends = commits.filter((types) => types.length > 0).map((types) => types.at(-1))
    assert.deepEqual(ends, ["run-start", "cycle-end", "cycle-end", "run-end", "run-start", "cycle-end", "run-end"])
    assert.deepEqual(
      commits.flat(),
      session.trajectory().events.map(({ type }) => type),
    )
  })

  test("says again and again that it is at work, without storing half a cycle", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] })
    const store = memoryStore()
    const { promise, resolve } = Promise.withResolvers<string>()
    await using session = await createAgent({ model: scriptedModel([() => promise]) }).session({ archive: store })
    const run = session.send("x")
    for await (const event of run) if (event.type === "cycle-start") break
    const revision = async () => (await store.get(`sessions/${session.id}/session`))?.revision ?? 0
    const before = await revision()
    t.mock.timers.tick(20_000)
    while ((await revision()) === before) await new Promise(setImmediate)
    assert.deepEqual(
      (await eventsOf(store, session.id)).map(({ type }) => type),
      ["run-start"],
    )
    resolve("ok")
    await run
  })
})

describe("two at one session", () => {
  test("cannot both write: who resumes has it, and the other is told the cure", async () => {
    await using folder = await freshFolder()
    const agent = createAgent({ model: scriptedModel(["a", "b", "c"]) })
    await using first = await agent.session({ archive: folder.path })
    await first.send("x")
    await using second = await agent.session({ resume: first.handle })
    await second.send("y")
    const late = first.send("z")
    await assert.rejects(
      async () => await late,
      (error) => error instanceof ConflictError && /agent\.session\(\{ resume/.test(error.message),
    )
    assert.equal((await loadSession(first.handle)).trajectory().runs.length, 2)
  })

  test("cannot meet in the middle of a run: whoever comes is refused until it has ended", async () => {
    await using folder = await freshFolder()
    const { promise, resolve } = Promise.withResolvers<string>()
    const agent = createAgent({ model: scriptedModel([() => promise, "b"]) })
    await using first = await agent.session({ archive: folder.path })
    const run = first.send("x")
    for await (const event of run) if (event.type === "cycle-start") break
    await assert.rejects(
      agent.session({ resume: first.handle }),
      (error) => error instanceof ConflictError && /is at work in process/.test(error.message),
    )
    await assert.rejects(deleteSession(folder.path, first.id), ConflictError)
    resolve("a")
    await run
    await using second = await agent.session({ resume: first.handle })
    assert.equal((await second.send("y")).output, "b")
  })
})

describe("a session whose process ended in a run", () => {
  test("has lost no cycle that was done, and the run is given an end", async () => {
    const store = memoryStore()
    const never = () => new Promise<string>(() => {})
    const agent = createAgent({
      model: scriptedModel([cell("let kept = 1"), "ok", cell("kept = 2; const made = 3"), never]),
    })
    const session = await agent.session({ archive: store })
    await session.send("first")
    void session.send("second")
    const isThere = async () =>
      (await eventsOf(store, session.id)).filter(({ type }) => type === "cycle-end").length === 3
    while (!(await isThere())) await new Promise(setImmediate)
    await abandon(store, session.id)

    const model = scriptedModel(["go on"])
    await using resumed = await createAgent({ model }).session({ resume: session.id, archive: store })
    await resumed.send("third")
    const { runs } = resumed.trajectory()
    assert.deepEqual(
      runs.map(({ status, error }) => [status, error?.code]),
      [
        ["done", undefined],
        ["failed", "interrupted"],
        ["done", undefined],
      ],
    )
    assert.equal(runs[1]?.cycles, 1)
    const told = JSON.stringify(model.requests[0]?.messages)
    assert.match(told, /- made: it was made or changed after the last time that objects were kept/)
    assert.match(told, /- kept: it is as it was before/)
    assert.match(told, /- what was changed inside objects/)
    assert.equal(await resumed.runtime?.retrieve("kept"), 1)
    await resumed.close()

    const later = scriptedModel(["ok"])
    await using again = await createAgent({ model: later }).session({ resume: session.id, archive: store })
    await again.send("fourth")
    const often = JSON.stringify(later.requests[0]?.messages).match(/- made/g)?.length
    assert.equal(often, 1, "it was told, and is not told again")
  })
})

async function eventsOf(store: Store, id: string): Promise<{ type: string }[]> {
  const events: unknown[] = []
  for await (const event of store.read(`sessions/${id}/events`)) events.push(event)
  return events as { type: string }[]
}

// As if the process that wrote it were gone.
async function abandon(store: Store, id: string): Promise<void> {
  const key = `sessions/${id}/session`
  const value = (await store.get(key))?.value as { writer: { until: number } }
  await store.commit([{ type: "put", key, value: { ...value, writer: { ...value.writer, until: 0 } } }])
}
