// test lane: clis, long
import assert from "node:assert/strict"
import { access, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { jsRuntime, tool } from "karst"
import { claude } from "karst/providers"
import { createClaudeParser } from "../../../src/providers/claude/claude-parser.ts"
import { toolGroups } from "../../../src/providers/provider.ts"
import { requires } from "../../system.ts"
import { claudeMachine, eventsOfType, waitUntil } from "../cli-machines.ts"
import { comparableEvents, readLines } from "../cli-recordings.ts"
import { resumeInChild, startResumingChild } from "../resume-in-child.ts"

const bash = (command: string) => `[[tool:Bash ${JSON.stringify({ command, description: "test" })}]]`
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

describe("Claude Code", { skip: requires("claude") }, () => {
  test("streams reasoning and text, and tells usage, cost and raw lines", async () => {
    await using place = await claudeMachine()
    const run = claude({ ...place.options, instructions: "Speak like a test." }).run("[[think]] hello")
    const { output, usage, trajectory, cycles } = await run
    assert.equal(output, "pong: [[think]] hello")
    assert.equal(cycles, 1)
    assert.deepEqual(
      { ...usage, costUsd: 0 },
      { input: 100, output: 20, cacheRead: 40, cacheWrite: 0, costUsd: 0, complete: true },
    )
    assert.ok((usage.costUsd ?? 0) > 0)
    const [message] = eventsOfType(trajectory.events, "message-end")
    assert.deepEqual(message?.message.parts, [
      { type: "reasoning", text: "let me think" },
      { type: "text", text: "pong: [[think]] hello" },
    ])
    assert.ok(eventsOfType(trajectory.events, "raw-received").length >= 4)
    const told = JSON.stringify(place.model.requests.at(-1)?.body.system)
    assert.ok(told.includes("Speak like a test."), "instructions are part of the system prompt")
    const deltas = (await Array.fromAsync(run)).filter((event) => event.type === "text-delta")
    assert.equal(deltas.map((event) => event.text).join(""), output)
  })

  test("runs a command that is allowed, and refuses what is not", async () => {
    await using place = await claudeMachine()
    const agent = claude(place.options)
    const done = await agent.run(bash("echo made > made.txt && cat made.txt"))
    const [call] = eventsOfType(done.trajectory.events, "tool-end")
    assert.deepEqual([call?.name, call?.ok, call?.text], ["Bash", true, "made"])
    assert.ok(await exists(join(place.cwd, "made.txt")))
    const refused = await agent.run(bash("echo no > refused.txt"), { allow: ["read"] })
    const [failed] = eventsOfType(refused.trajectory.events, "tool-end")
    assert.equal(failed?.ok, false)
    assert.equal(await exists(join(place.cwd, "refused.txt")), false)
  })

  test("names the files it wrote", async () => {
    await using place = await claudeMachine()
    const path = join(place.cwd, "note.txt")
    const result = await claude(place.options).run(
      `[[tool:Write ${JSON.stringify({ file_path: path, content: "hi" })}]]`,
    )
    assert.deepEqual(result.files, [path])
    assert.equal(await readFile(path, "utf8"), "hi")
  })

  test("asks before it acts, and takes a no", async () => {
    await using place = await claudeMachine()
    const asked: unknown[] = []
    const agent = claude({
      ...place.options,
      permissions: "ask",
      approver({ binding, args }) {
        asked.push([binding, args])
        return JSON.stringify(args).includes("good")
      },
    })
    const good = await agent.run(bash("touch good"))
    assert.ok(await exists(join(place.cwd, "good")))
    assert.equal(eventsOfType(good.trajectory.events, "approval-resolved")[0]?.decision, "allow")
    const bad = await agent.run(bash("touch bad"))
    assert.equal(await exists(join(place.cwd, "bad")), false)
    assert.equal(eventsOfType(bad.trajectory.events, "tool-end")[0]?.error?.kind, "refused")
    assert.deepEqual(asked[0], ["Bash", [{ command: "touch good", description: "test" }]])
    assert.equal(asked.length, 2)
  })

  test("asks by events, and an answer for good is one", async () => {
    await using place = await claudeMachine()
    const agent = claude({ ...place.options, permissions: "ask", approver: "events" })
    const run = agent.run(`${bash("touch one")} ${bash("touch two")}`)
    let asked = 0
    for await (const event of run) {
      if (event.type !== "approval-requested") continue
      asked++
      assert.deepEqual([event.call.binding, event.answerer], ["Bash", undefined])
      run.approve(event.id, "always")
    }
    assert.equal(asked, 1)
    assert.ok((await exists(join(place.cwd, "one"))) && (await exists(join(place.cwd, "two"))))
  })

  test("uses a tool of ours and works on live objects, of which the token is in no argument", async () => {
    await using place = await claudeMachine()
    const given: unknown[] = []
    let seen: string[] = []
    const weigh = tool({
      name: "weigh",
      description: "Weighs things",
      input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
      async run(input) {
        given.push(input)
        seen = await place.processes()
        return "3 kg"
      },
    })
    await using runtime = jsRuntime({ light: { level: 1 } })
    const agent = claude({ ...place.options, tools: [weigh], runtime })
    const prompt = '[[tool:mcp__karst__weigh {"what":"stone"}]] [[tool:mcp__karst__run {"code":"light.level = 42"}]]'
    const { output } = await agent.run(prompt)
    assert.deepEqual(given, [{ what: "stone" }])
    assert.match(output, /3 kg \|.*42/s)
    assert.deepEqual(await runtime.retrieve("light"), { level: 42 })
    assert.ok(seen.length > 0 && !seen.join().includes("Bearer"))
  })

  test("goes on in another process by its handle alone, and by its id with the archive", async () => {
    await using place = await claudeMachine()
    const archive = join(place.home, "archive")
    const session = await claude(place.options).session({ archive })
    await session.send("my number is 7")
    const { handle, id } = session
    await session.close()
    const told = await resumeInChild("claude", place, { resume: handle }, "again")
    assert.deepEqual(told, { output: "pong: again", messages: 4 })
    const bare = await resumeInChild("claude", place, { resume: id, archive }, "and again")
    assert.equal(bare.messages, 6)
    const heard = JSON.stringify(place.model.requests.at(-1)?.body.messages)
    assert.ok(heard.includes("my number is 7") && heard.includes("again"))
  })

  test("forks a conversation and leaves it as it was", async () => {
    await using place = await claudeMachine()
    await using session = await claude(place.options).session()
    await session.send("first")
    await using fork = await session.fork?.()
    assert.ok(fork)
    await fork.send("second")
    assert.notEqual(fork.handle, session.handle)
    await session.send("third")
    const heard = JSON.stringify(place.model.requests.at(-1)?.body.messages)
    assert.ok(heard.includes("first") && !heard.includes("second"))
  })

  test("tells what a sub-agent of its own does as a run within the run", async () => {
    await using place = await claudeMachine()
    const task = {
      description: "look",
      prompt: bash("echo deep"),
      subagent_type: "general-purpose",
      run_in_background: false,
    }
    // The brackets of the inner directive must not end the outer one.
    const input = JSON.stringify(task).replaceAll("]]", "\\u005d\\u005d")
    const { trajectory, output } = await claude(place.options).run(`[[tool:Task ${input}]]`)
    assert.match(output, /deep/)
    const [call, nested] = eventsOfType(trajectory.events, "tool-start")
    const [start] = eventsOfType(trajectory.events, "run-start").filter((event) => event.parent !== undefined)
    assert.equal(start?.agent, "general-purpose")
    assert.equal(start?.metadata.call, call?.id)
    assert.deepEqual([nested?.run, nested?.name], [start?.run, "Bash"])
    const [end] = eventsOfType(trajectory.events, "run-end").filter((event) => event.run === start?.run)
    assert.equal(end?.status, "done")
    assert.deepEqual(trajectory.runs.length, 1)
    assert.equal(trajectory.messages.filter(({ role }) => role === "result").length, 1)
  })

  test("tells the same events live as its lines tell when they are read again", async () => {
    await using place = await claudeMachine()
    const { trajectory, usage, output } = await claude(place.options).run(`[[think]] ${bash("echo one")}`)
    const lines = eventsOfType(trajectory.events, "raw-received").map(({ data }) => data)
    const parser = createClaudeParser({
      allow: new Set(toolGroups),
      permissions: "bypass",
      timeoutMs: undefined,
      idleTimeoutMs: undefined,
    })
    const read = readLines(parser, lines.filter((line) => typeof line === "object") as never)
    assert.deepEqual(comparableEvents(read.events), comparableEvents(trajectory.events))
    assert.deepEqual([read.end?.usage.input, read.events.at(-1)?.type], [usage.input, "cycle-end"])
    assert.match(output, /one/)
  })

  test("sees images", async () => {
    await using place = await claudeMachine()
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    await claude(place.options).run([
      { type: "text", text: "what is it" },
      { type: "image", mediaType: "image/png", data },
    ])
    assert.ok(JSON.stringify(place.model.requests.at(-1)?.body.messages).includes('"image"'))
  })

  test("hears what is said to it while it works", async () => {
    await using place = await claudeMachine()
    const run = claude(place.options).run(`${bash("sleep 2")} ${bash("true")}`)
    for await (const event of run) if (event.type === "tool-start") run.steer("and be quick")
    const { trajectory } = await run
    assert.equal(eventsOfType(trajectory.events, "prompt-steered").length > 0, true)
    assert.ok(JSON.stringify(place.model.requests.map(({ body }) => body.messages)).includes("and be quick"))
  })

  test("answers what was said too late for its answer, in the same run", async () => {
    await using place = await claudeMachine()
    const run = claude(place.options).run("hello")
    let told = false
    for await (const event of run) {
      if (event.type !== "text-delta" || told) continue
      run.steer("wait, and this")
      told = true
    }
    const { output, usage, cycles } = await run
    assert.equal(output, "pong: wait, and this")
    assert.deepEqual([usage.input, cycles], [200, 2])
  })

  test("goes on after a turn that was aborted in its first moments", async () => {
    await using place = await claudeMachine()
    await using session = await claude(place.options).session()
    const run = session.send("[[hang]]")
    for await (const event of run) if (event.type === "raw-received") break
    run.abort()
    await run.settled
    assert.equal((await session.send("again")).output, "pong: again")
  })

  test("leaves no process when it is aborted in the middle of a command", async () => {
    await using place = await claudeMachine()
    const run = claude(place.options).run(bash("(sleep 300 &) ; setsid sleep 300 & sleep 300"))
    const commands = async () => (await place.processes()).filter((line) => line.startsWith("sleep"))
    await waitUntil("the command runs", async () => (await commands()).length > 1)
    run.abort()
    const { status } = await run.settled
    assert.equal(status, "aborted")
    assert.deepEqual(await place.processes(), [])
  })

  test("ends with its owner, though that is killed at once", { skip: process.platform !== "linux" }, async () => {
    await using place = await claudeMachine()
    const owner = startResumingChild("claude", place, {}, bash("setsid sleep 300 & sleep 300"))
    const commands = async () => (await place.processes()).filter((line) => line.startsWith("sleep"))
    await waitUntil("the command runs", async () => (await commands()).length > 1)
    owner.kill("SIGKILL")
    await waitUntil("nothing is left", async () => (await place.processes()).length === 0)
  })

  const failures: [string, string, string][] = [
    ["a wrong key", "[[status:401]]", "authentication"],
    ["a limit", "[[status:429]]", "rate-limited"],
    ["a broken service", "[[status:500]]", "server-error"],
    ["a silent service", "[[hang]]", "stalled"],
  ]
  for (const [what, prompt, code] of failures) {
    test(`tells ${what} by a code, and is gone`, async () => {
      await using place = await claudeMachine()
      const idleTimeoutMs = code === "stalled" ? 5000 : 30_000
      const { status, error, messages } = await claude({ ...place.options, idleTimeoutMs }).run(prompt).settled
      assert.deepEqual([status, error?.code], ["failed", code], error?.message)
      assert.equal(messages.length, 1, "what the CLI says of it is no answer of a model")
      assert.deepEqual(await place.processes(), [])
    })
  }

  test("says so when it does not know a conversation", async () => {
    await using place = await claudeMachine()
    await using session = await claude(place.options).session()
    await session.send("hello")
    await rm(join(place.home, ".claude", "projects"), { recursive: true })
    await assert.rejects(Promise.resolve(session.send("again")), { name: "ProviderError", code: "session-not-found" })
  })
})
