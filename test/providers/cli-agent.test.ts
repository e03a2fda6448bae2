// test lane: clis
import assert from "node:assert/strict"
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import {
  AbortError,
  type AgentEvent,
  ConfigError,
  createAgent,
  jsRuntime,
  ProviderError,
  type Runtime,
  tool,
  variable,
} from "karst"
import { scriptedModel } from "karst/models"
import { type CliOptions, claude, codex } from "karst/providers"
import { listSessions, loadSession } from "karst/sessions"
import * as z from "zod"
import { cliSessionHandle, parseSessionHandle } from "../../src/sessions/session-handle.ts"
import { eventsOfType, fakeClaudeMachine, waitUntil } from "./cli-machines.ts"

describe("a coding CLI as an agent", () => {
  test("tells a run as any agent does: one start, one end, messages and usage", async () => {
    await using place = await fakeClaudeMachine()
    const events: AgentEvent[] = []
    const agent = claude({ ...place.options, metadata: { team: "a" }, onEvent: (event) => events.push(event) })
    const result = await agent.run("think tool Read say hello", { metadata: { task: 7 } })
    assert.deepEqual([result.status, result.output, result.cycles], ["done", "hello 1", 1])
    assert.deepEqual(result.usage, { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, costUsd: 0.01, complete: true })
    assert.deepEqual(
      result.messages.map(({ role }) => role),
      ["user", "assistant", "result", "assistant"],
    )
    assert.deepEqual(result.trajectory.metadata, { team: "a", task: 7 })
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
    )
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ["run-start", "run-end"])
  })

  test("goes on from a result, and can be changed without changing", async () => {
    await using place = await fakeClaudeMachine()
    const agent = claude(place.options)
    const first = await agent.run("say one")
    const second = await agent.with({ name: "other" }).run("say two", { from: first })
    assert.equal(second.output, "two 2")
    assert.equal(second.messages.length, 4)
    assert.deepEqual([agent.name, agent.provider], ["claude", "claude"])
    const foreign = codex({ program: place.options.program }).run("x", { from: first })
    await assert.rejects(Promise.resolve(foreign), /not of a run of this CLI/)
  })

  test("keeps what is no JSON in the raw log, and goes on", async () => {
    await using place = await fakeClaudeMachine()
    const { output, trajectory } = await claude(place.options).run("junk stderr 200 say hello")
    assert.equal(output, "hello 1")
    const raw = eventsOfType(trajectory.events, "raw-received").map(({ data }) => data)
    assert.ok(raw.includes("this is no JSON") && raw.includes("[1, 2]") && raw.includes("the end of it"))
  })

  test("leaves nothing of what the CLI left behind", async () => {
    await using place = await fakeClaudeMachine()
    assert.equal((await claude(place.options).run("linger say hello")).output, "hello 1")
    assert.deepEqual(await place.processes(), [])
  })

  test("says what was not there: the program, the folder, the reason", async () => {
    await using place = await fakeClaudeMachine()
    const failing = async (options: CliOptions, prompt = "say x") =>
      (await claude({ ...place.options, ...options }).run(prompt).settled).error
    const missing = await failing({ program: "/nowhere/claude" })
    assert.equal(missing?.code, "not-installed")
    assert.match(missing?.message ?? "", /npm install -g @anthropic-ai\/claude-code/)
    assert.match((await failing({ cwd: join(place.cwd, "none") }))?.message ?? "", /cwd: ".*none" does not exist/)
    const file = join(place.cwd, "file")
    await writeFile(file, "")
    assert.match((await failing({ cwd: file }))?.message ?? "", /is not a folder/)
    assert.equal((await failing({}, "exit 3"))?.code, "exit")
    const mute = await failing({}, "exit 3")
    assert.match(mute?.message ?? "", /ended with code 3/)
    assert.match((await failing({}, "mutter exit 1"))?.message ?? "", /Error: out of cheese/)
  })

  test("is stopped when nothing comes, and when it takes too long", async () => {
    await using place = await fakeClaudeMachine()
    const idle = await claude({ ...place.options, idleTimeoutMs: 500 }).run("hang").settled
    assert.deepEqual([idle.status, idle.error?.code], ["failed", "stalled"])
    const long = await claude({ ...place.options, timeoutMs: 500 }).run("hang").settled
    assert.equal(long.error?.code, "timeout")
    assert.deepEqual(await place.processes(), [])
  })

  test("is aborted by its run, its signal and its owner, and is gone then", async () => {
    await using place = await fakeClaudeMachine()
    const agent = claude(place.options)
    const controller = new AbortController()
    const runs = [agent.run("hang"), agent.run("hang", { signal: controller.signal })]
    for (const run of runs) for await (const event of run) if (event.type === "raw-received") break
    runs[0]?.abort("enough")
    controller.abort("closed")
    for (const run of runs) await assert.rejects(Promise.resolve(run), AbortError)
    const ended = await Promise.all(runs.map((run) => run.settled))
    assert.deepEqual(
      ended.map(({ detail }) => detail),
      ["enough", "closed"],
    )
    assert.deepEqual(
      ended.map(({ trajectory }) => eventsOfType(trajectory.events, "run-end")[0]?.detail),
      ["enough", "closed"],
    )
    {
      await using run = agent.run("hang")
      for await (const event of run) if (event.type === "raw-received") break
    }
    assert.deepEqual(await place.processes(), [])
  })

  test("sends a turn again that failed for a passing reason, and not one that has done something", async () => {
    await using place = await fakeClaudeMachine()
    const agent = claude({ ...place.options, maxRetries: 2 })
    const mended = await agent.run("fail 500 once say hello")
    assert.equal(mended.output, "hello 2")
    assert.equal(eventsOfType(mended.trajectory.events, "warning-raised")[0]?.code, "turn-repeated")
    assert.equal(eventsOfType(mended.trajectory.events, "message-end").length, 1)
    assert.equal(mended.usage.input, 20, "both attempts are counted")
    const partial = await agent.run("tool Read break 500").settled
    assert.deepEqual([partial.status, partial.error?.code], ["failed", "server-error"])
    assert.deepEqual(
      partial.messages.map(({ role }) => role),
      ["user", "assistant", "result"],
    )
    assert.equal(eventsOfType(partial.trajectory.events, "warning-raised").length, 0, "what was done is kept, once")
    const broken = await agent.run("fail 500").settled
    assert.equal(broken.error?.code, "server-error")
    assert.equal(eventsOfType(broken.trajectory.events, "warning-raised").length, 2)
    const limited = await agent.run("limit").settled
    assert.ok(limited.error?.cause instanceof ProviderError)
    assert.ok((limited.error.cause.retryAt ?? 0) > Date.now())
    assert.equal(limited.error.retryAt, limited.error.cause.retryAt)
    assert.equal(eventsOfType(limited.trajectory.events, "warning-raised").length, 0)
    assert.equal(limited.trajectory.usageLimited, true)
  })

  test("keeps to the limits of its run", async () => {
    await using place = await fakeClaudeMachine()
    const agent = claude(place.options)
    const timed = await agent.run("hang", { limits: { timeMs: 500 } })
    assert.deepEqual([timed.status, timed.reason], ["stopped", "time"])
    const none = await agent.run("say hello", { limits: { cycles: 0 } })
    assert.deepEqual([none.status, none.reason], ["stopped", "cycles"])
    assert.deepEqual(await place.processes(), [])
  })

  test("tells a logger one line for each thing that matters", async () => {
    await using place = await fakeClaudeMachine()
    const lines: string[] = []
    const logger = {
      info: (line: string) => lines.push(`info ${line}`),
      warn: (line: string) => lines.push(`warn ${line}`),
      error: (line: string) => lines.push(`error ${line}`),
    }
    await claude({ ...place.options, logger }).run("think tool Read say hello")
    await claude({ ...place.options, logger }).run("fail 500").settled
    const shown = lines.slice(0, 6).map((line) => line.replace(/\(\d+\.\ds\)/, "(N s)"))
    assert.deepEqual(shown, [
      "info user think tool Read say hello",
      "info thinking let me think",
      'info tool_call Read {"number":1}',
      "info tool_result Read (N s) → done",
      "info assistant hello 1",
      "info turn_end done (N s) tokens=10in/2out cost=$0.0100",
    ])
    assert.match(lines.at(-1) ?? "", /^error turn_end failed .*API Error: 500/)
    assert.ok(lines.every((line) => !line.includes("\n") && line.length <= 210))
  })

  test("is an object like any other in a runtime: its run is a child, and what it uses counts once", async () => {
    await using place = await fakeClaudeMachine()
    const model = scriptedModel(["```ts\nawait coder.run('say hello')\n```", "Done."])
    const boss = createAgent({ model, runtime: jsRuntime({ coder: claude(place.options) }) })
    const { trajectory, usage, status } = await boss.run("Have it coded")
    assert.equal(status, "done")
    const [child] = eventsOfType(trajectory.events, "run-start").filter(({ parent }) => parent !== undefined)
    assert.deepEqual([child?.agent, child?.parent], ["claude", trajectory.runs[0]?.id])
    assert.equal(usage.costUsd, 0.01)
  })

  test("refuses options that it does not know, or that cannot be", () => {
    const wrong: [Record<string, unknown>, RegExp][] = [
      [{ modle: "opus" }, /no option `modle`/],
      [{ allow: ["reed"] }, /allow: "reed" is unknown/],
      [{ permissions: "yolo" }, /permissions: "yolo" is unknown/],
      [{ timeoutMs: 0 }, /`timeoutMs` is not a whole number of 1 or more.*it is 0/],
      [{ runtime: {} }, /runtime: this is neither/],
      [{ mcpServers: { karst: { url: "http://x" } } }, /"karst" is taken/],
      [{ mcpServers: { "a.b": { url: "http://x" } } }, /is no name/],
    ]
    for (const [options, message] of wrong) assert.throws(() => claude(options), message)
    assert.throws(() => codex({ permissions: "ask" }), /Codex cannot ask/)
    assert.throws(() => claude().with({ maxRetries: -1 }), ConfigError)
  })

  test("takes its defaults from the environment", async () => {
    await using place = await fakeClaudeMachine()
    Object.assign(process.env, { KARST_MODEL: "some-model", KARST_EFFORT: "high" })
    try {
      const started = async (options: CliOptions) => {
        const { trajectory } = await claude({ ...place.options, ...options }).run("say x")
        return eventsOfType(trajectory.events, "run-start")[0]?.model
      }
      assert.equal(await started({}), "some-model")
      assert.equal(await started({ model: "other" }), "other")
      assert.equal(await started({ model: "fast", env: { ANTHROPIC_SMALL_FAST_MODEL: "small" } }), "small")
    } finally {
      delete process.env.KARST_MODEL
      delete process.env.KARST_EFFORT
    }
  })

  test("serves its tools only while a run is under way", async () => {
    await using place = await fakeClaudeMachine()
    const ping = tool({ name: "ping", description: "Answers", run: () => "pong" })
    let url = ""
    const agent = claude({ ...place.options, tools: [ping] })
    const run = agent.run("hang")
    await waitUntil("it has its configuration", async () => {
      const [line = ""] = (await place.processes()).filter((each) => each.includes("--mcp-config"))
      const [, file] = /--mcp-config (\S+)/.exec(line) ?? []
      if (file === undefined) return false
      url = JSON.parse(await readFile(file, "utf8")).mcpServers.karst.url
      return true
    })
    assert.equal((await fetch(url)).status, 401)
    run.abort()
    await run.settled
    await assert.rejects(fetch(url))
  })
})

describe("a session with a coding CLI", () => {
  test("takes sends in the order they came", async () => {
    await using place = await fakeClaudeMachine()
    await using session = await claude(place.options).session()
    const runs = ["say a", "say b", "say c"].map((prompt) => session.send(prompt))
    assert.deepEqual(
      (await Promise.all(runs.map((run) => run.settled))).map(({ output }) => output),
      ["a 1", "b 2", "c 3"],
    )
    assert.equal(session.trajectory().runs.length, 3)
    assert.equal(session.trajectory().usage.input, 30)
  })

  test("goes on by its handle without an archive: the CLI knows what was said, the record begins anew", async () => {
    await using place = await fakeClaudeMachine()
    const agent = claude(place.options)
    const session = await agent.session()
    await session.send("say one")
    await session.close()
    await session.close()
    await using resumed = await agent.session({ resume: session.handle })
    assert.equal(resumed.id, session.id)
    assert.equal((await resumed.send("say two")).output, "two 2")
    assert.equal(resumed.messages().length, 2)
  })

  test("is kept in an archive with its record, its options and its folder", async () => {
    await using place = await fakeClaudeMachine()
    const archive = join(place.folder, "archive")
    const session = await claude({ ...place.options, instructions: "Be kind." }).session({ archive })
    await session.send("say one")
    await session.close()
    const [info] = await listSessions(archive)
    assert.deepEqual([info?.id, info?.agent, info?.title, info?.runs], [session.id, "claude", "say one", 1])
    const { cwd: _, ...elsewhere } = place.options
    await using resumed = await claude(elsewhere).session({ resume: session.id, archive })
    assert.equal((await resumed.send("say two")).output, "two 2")
    assert.equal(resumed.trajectory().system, "Be kind.")
    assert.equal(resumed.trajectory().runs.length, 2)
    const loaded = await loadSession(archive, session.id)
    assert.equal(loaded.messages().length, 4)
  })

  test("with an id of the caller is created at first and resumed later, by the same CLI only", async () => {
    await using place = await fakeClaudeMachine()
    const archive = join(place.folder, "archive")
    for (const [prompt, output] of [
      ["say one", "one 1"],
      ["say two", "two 2"],
    ] as const) {
      await using session = await claude(place.options).session({ id: "user-42", archive })
      assert.equal(session.id, "user-42")
      assert.equal((await session.send(prompt)).output, output)
    }
    assert.equal((await loadSession(archive, "user-42")).trajectory().runs.length, 2)
    await assert.rejects(
      createAgent({ model: scriptedModel([]) }).session({ id: "user-42", archive }),
      /is one of the agent "claude", and this is "agent"/,
    )
  })

  test("asks again for what was always allowed, unless the caller names the archive", async () => {
    await using place = await fakeClaudeMachine()
    const archive = join(place.folder, "archive")
    let wiped = 0
    const wipe = tool({
      name: "wipe",
      description: "",
      input: z.object({ prompt: z.string() }),
      approve: true,
      run: () => `gone ${++wiped}`,
    })
    const agent = claude({ ...place.options, tools: [wipe] })
    const session = await agent.session({ archive, approver: "events" })
    const run = session.send("ask wipe all say done")
    for await (const event of run) if (event.type === "approval-requested") run.approve(event.id, "always")
    await session.close()
    const resumed = await agent.session({ resume: session.id, archive })
    await resumed.send("ask wipe all say done")
    await resumed.close()
    assert.equal(wiped, 2)
    await using byHandle = await agent.session({ resume: session.handle })
    const { trajectory } = await byHandle.send("ask wipe all say done")
    assert.equal(wiped, 2)
    assert.match(eventsOfType(trajectory.events, "warning-raised")[0]?.message ?? "", /wipe.*Give the archive/)
  })

  test("by a handle that names a folder of anybody, or an option as its key, is refused before anything is started", async () => {
    await using place = await fakeClaudeMachine()
    const session = await claude(place.options).session()
    await session.send("say one")
    await session.close()
    const parts = parseSessionHandle(session.handle)
    const { cwd: _, ...elsewhere } = place.options
    const open = join(place.folder, "open")
    await mkdir(open)
    await chmod(open, 0o777)
    const agent = claude(elsewhere)
    await assert.rejects(
      agent.session({ resume: cliSessionHandle({ ...parts, cwd: open }) }),
      /open", which is not trusted/,
    )
    await assert.rejects(
      agent.session({ resume: cliSessionHandle({ ...parts, folder: open }) }),
      /open", which is not trusted/,
    )
    await assert.rejects(
      agent.session({ resume: cliSessionHandle({ ...parts, key: "--verbose" }) }),
      /cannot be one of a CLI/,
    )
  })

  test("seeds an archive that does not know it yet", async () => {
    await using place = await fakeClaudeMachine()
    const agent = claude(place.options)
    const session = await agent.session()
    await session.send("say one")
    const archive = join(place.folder, "archive")
    const resumed = await agent.session({ resume: session.handle, archive })
    await resumed.send("say two")
    await resumed.close()
    assert.equal((await listSessions(archive))[0]?.id, session.id)
  })

  test("cannot be resumed by a bare id without its archive, nor by another CLI", async () => {
    await using place = await fakeClaudeMachine()
    const agent = claude(place.options)
    const session = await agent.session()
    assert.throws(() => session.handle, { name: "ConfigError", message: /Take it after the first send/ })
    const early = cliSessionHandle({ id: session.id, provider: "claude" })
    await assert.rejects(agent.session({ resume: early }), /taken after its first send/)
    await session.send("say one")
    await assert.rejects(agent.session({ resume: session.id }), ConfigError)
    await assert.rejects(agent.session({ resume: session.handle.replace("karst:2", "karst:9") }), /version 9/)
    await assert.rejects(codex().session({ resume: session.handle }), /is one with claude/)
    await session.close()
  })

  test("keeps the live objects of its own runtime, and says what did not come back", async () => {
    await using place = await fakeClaudeMachine()
    const archive = join(place.folder, "archive")
    const runtimes: Runtime[] = []
    const runtime = () => {
      const made = jsRuntime({ count: variable(1) })
      runtimes.push(made)
      return made
    }
    const agent = claude({ ...place.options, runtime })
    const session = await agent.session({ archive })
    // Calls the tool through the MCP server, as the CLI would.
    await runtimes[0]?.execute("count = 5; const open = new WeakMap()")
    await session.send("say one")
    await session.close()
    await using resumed = await agent.session({ archive, resume: session.handle })
    assert.equal(await resumed.runtime?.retrieve("count"), 5)
    const { trajectory } = await resumed.send("say two")
    assert.match(eventsOfType(trajectory.events, "warning-raised")[0]?.message ?? "", /"open" was not brought back/)
    await using fork = await resumed.fork?.()
    await fork?.runtime?.update({ count: 6 })
    assert.equal(await resumed.runtime?.retrieve("count"), 5)
  })

  test("says with the next prompt what could not be said to the model while it worked", async () => {
    await using place = await fakeClaudeMachine()
    await using session = await claude(place.options).session()
    session.steer("and more")
    const { trajectory } = await session.send("say one")
    assert.equal(eventsOfType(trajectory.events, "prompt-steered").length, 1)
  })

  test("forks where the CLI can, with the record so far", async () => {
    await using place = await fakeClaudeMachine()
    const archive = join(place.folder, "archive")
    await using session = await claude(place.options).session({ archive })
    await session.send("say one")
    await using fork = await session.fork?.()
    assert.ok(fork)
    assert.equal((await fork.send("say two")).output, "two 2")
    assert.equal((await session.send("say three")).output, "three 2")
    assert.equal(fork.messages().length, 4)
    assert.equal((await listSessions(archive)).length, 2)
  })

  test("a fork that has sent nothing yet can be closed and resumed, and forked itself", async () => {
    await using place = await fakeClaudeMachine()
    const archive = join(place.folder, "archive")
    const agent = claude(place.options)
    await using session = await agent.session({ archive })
    await session.send("say one")
    const fork = await session.fork?.()
    assert.ok(fork)
    const second = await fork.fork?.()
    assert.equal((await second?.send("say two"))?.output, "two 2")
    await second?.close()
    await fork.close()
    await using resumed = await agent.session({ archive, resume: fork.id })
    assert.equal((await resumed.send("say two")).output, "two 2")
    assert.equal((await session.send("say two")).output, "two 2", "the original has nothing of its forks")
    const again = await agent.session({ archive, resume: second?.id ?? "" })
    assert.equal((await again.send("say three")).output, "three 3", "a fork that was used has its own conversation")
    await again.close()
  })

  test("writes its trajectory to a file that is whole at every moment", async () => {
    await using place = await fakeClaudeMachine()
    const trajectoryPath = join(place.folder, "trajectory.json")
    await using session = await claude({ ...place.options, trajectoryPath }).session()
    await session.send("tool Read say one")
    const written = JSON.parse(await readFile(trajectoryPath, "utf8"))
    assert.deepEqual(written, session.trajectory())
    const run = session.send("hang")
    for await (const event of run) if (event.type === "raw-received") break
    await waitUntil("the file has the new run", async () => {
      const { runs } = JSON.parse(await readFile(trajectoryPath, "utf8"))
      return runs.length === 2
    })
    run.abort()
    await run.settled
  })

  test("keeps what may not change within it", async () => {
    await using place = await fakeClaudeMachine()
    await using session = await claude(place.options).session()
    assert.throws(() => session.send("say x", { cwd: "/" }), /cwd cannot change within a session/)
    await session.close()
    assert.throws(() => session.send("say x"), /closed/)
  })
})
