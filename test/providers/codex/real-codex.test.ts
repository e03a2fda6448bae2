// test lane: clis, long
import assert from "node:assert/strict"
import { access, readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { jsRuntime, ProviderError, tool } from "karst"
import { codex } from "karst/providers"
import { createCodexParser } from "../../../src/providers/codex/codex-parser.ts"
import { requires } from "../../system.ts"
import { codexMachine, eventsOfType, waitUntil } from "../cli-machines.ts"
import { comparableEvents, readLines } from "../cli-recordings.ts"
import { resumeInChild, startResumingChild } from "../resume-in-child.ts"

const shell = (cmd: string) => `[[tool:exec_command ${JSON.stringify({ cmd })}]]`
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

describe("Codex", { skip: requires("codex") }, () => {
  test("tells reasoning and text, and what the price list says it cost", async () => {
    await using place = await codexMachine()
    const { output, usage, trajectory } = await codex({ ...place.options, instructions: "Speak like a test." }).run(
      "[[think]] hello",
    )
    assert.equal(output, "pong: [[think]] hello")
    const { costUsd = 0, ...counts } = usage
    assert.deepEqual(counts, {
      input: 100,
      output: 20,
      cacheRead: 40,
      cacheWrite: 0,
      reasoning: 5,
      complete: true,
    })
    assert.ok(Math.abs(costUsd - (60 * 1.75 + 40 * 0.175 + 20 * 14) / 1e6) < 1e-9)
    const [message] = eventsOfType(trajectory.events, "message-end")
    assert.deepEqual(
      message?.message.parts.map(({ type }) => type),
      ["reasoning", "text"],
    )
    const developer = place.model.requests
      .at(-1)
      ?.body.input.filter(({ role }: { role: string }) => role === "developer")
    assert.ok(JSON.stringify(developer).includes("Speak like a test."))
  })

  test("counts what each turn used, though the CLI counts the whole thread", async () => {
    await using place = await codexMachine()
    const agent = codex(place.options)
    await using session = await agent.session()
    for (const prompt of ["one", "two"]) assert.equal((await session.send(prompt)).usage.input, 100)
    await using resumed = await agent.session({ resume: session.handle })
    assert.equal((await resumed.send("three")).usage.input, 100)
    await using fork = await session.fork?.()
    assert.equal((await fork?.send("four"))?.usage.input, 100)
  })

  test("runs a command with what it wrote and its exit code, and keeps to the folder without more rights", async () => {
    await using place = await codexMachine()
    const agent = codex(place.options)
    const done = await agent.run(shell("echo made | tee made.txt; exit 3"))
    const [call] = eventsOfType(done.trajectory.events, "tool-end")
    assert.deepEqual([call?.name, call?.ok, call?.text], ["command_execution", false, "made\n\n(exit code 3)"])
    assert.ok(await exists(join(place.cwd, "made.txt")))
    const refused = await agent.run(shell("touch refused.txt"), { allow: ["read"] })
    assert.equal(await exists(join(place.cwd, "refused.txt")), false)
    const [warning] = eventsOfType(refused.trajectory.events, "warning-raised").filter(
      ({ code }) => code === "not-enforced",
    )
    assert.match(warning?.message ?? "", /"exec"/)
  })

  test("keeps its sandbox when a conversation goes on", async () => {
    await using place = await codexMachine()
    await using session = await codex({ ...place.options, allow: ["read"] }).session()
    await session.send("hello")
    await session.send(shell("touch refused.txt"))
    assert.equal(await exists(join(place.cwd, "refused.txt")), false)
  })

  test("names the files it changed", async () => {
    await using place = await codexMachine()
    const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: n.txt\n+hi\n*** End Patch\nEOF"
    const result = await codex(place.options).run(shell(patch))
    assert.deepEqual(result.files, [join(place.cwd, "n.txt")])
    assert.equal(await readFile(join(place.cwd, "n.txt"), "utf8"), "hi\n")
    assert.equal(eventsOfType(result.trajectory.events, "tool-start")[0]?.name, "file_change")
  })

  test("uses a tool of ours and works on live objects, of which the token is in no argument", async () => {
    await using place = await codexMachine()
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
    const agent = codex({ ...place.options, tools: [weigh], runtime })
    const prompt = '[[tool:mcp__karst:weigh {"what":"stone"}]] [[tool:mcp__karst:run {"code":"light.level = 42"}]]'
    const { output, trajectory } = await agent.run(prompt)
    assert.deepEqual(given, [{ what: "stone" }])
    assert.match(output, /3 kg.*42/s)
    assert.deepEqual(
      eventsOfType(trajectory.events, "tool-end").map(({ name, ok }) => [name, ok]),
      [
        ["mcp__karst__weigh", true],
        ["mcp__karst__run", true],
      ],
    )
    assert.deepEqual(await runtime.retrieve("light"), { level: 42 })
    assert.ok(seen.length > 0 && !seen.join().includes("Bearer"))
  })

  test("goes on in another process by its handle alone, and by its id with the archive", async () => {
    await using place = await codexMachine()
    const archive = join(place.home, "archive")
    const session = await codex(place.options).session({ archive })
    await session.send("my number is 7")
    const { handle, id } = session
    await session.close()
    assert.deepEqual(await resumeInChild("codex", place, { resume: handle }, "again"), {
      output: "pong: again",
      messages: 4,
    })
    assert.equal((await resumeInChild("codex", place, { resume: id, archive }, "and again")).messages, 6)
    const heard = JSON.stringify(place.model.requests.at(-1)?.body.input)
    assert.ok(heard.includes("my number is 7") && heard.includes("again"))
  })

  test("tells the same events live as its lines tell when they are read again", async () => {
    await using place = await codexMachine()
    const { trajectory, usage, output } = await codex(place.options).run(`[[think]] ${shell("echo one; exit 2")}`)
    const lines = eventsOfType(trajectory.events, "raw-received").map(({ data }) => data)
    const parser = createCodexParser({
      totalBeforeTurn: { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 },
      timeoutMs: undefined,
      idleTimeoutMs: undefined,
    })
    const read = readLines(parser, lines.filter((line) => typeof line === "object") as never)
    assert.deepEqual(comparableEvents(read.events), comparableEvents(trajectory.events))
    assert.deepEqual([read.end?.usage.input, read.events.at(-1)?.type], [usage.input, "cycle-end"])
    assert.match(output, /one/)
  })

  test("sees images", async () => {
    await using place = await codexMachine()
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    await codex(place.options).run([
      { type: "text", text: "what is it" },
      { type: "image", mediaType: "image/png", data },
    ])
    assert.ok(JSON.stringify(place.model.requests.at(-1)?.body.input).includes("input_image"))
  })

  test("goes on after a turn that was aborted in its first moments", async () => {
    await using place = await codexMachine()
    await using session = await codex(place.options).session()
    const run = session.send("[[hang]]")
    for await (const event of run) if (event.type === "raw-received") break
    run.abort()
    await run.settled
    assert.equal((await session.send("again")).output, "pong: again")
  })

  for (const allow of [undefined, ["read", "write", "exec"] as const]) {
    test(`leaves no process when it is aborted in the middle of a command, ${allow ? "in" : "without"} its sandbox`, async () => {
      await using place = await codexMachine()
      const run = codex({ ...place.options, allow }).run(shell("(sleep 300 &) ; setsid sleep 300 & sleep 300"))
      const commands = async () => (await place.processes()).filter((line) => line.startsWith("sleep"))
      await waitUntil("the command runs", async () => (await commands()).length > 1)
      run.abort()
      const { status } = await run.settled
      assert.equal(status, "aborted")
      assert.deepEqual(await place.processes(), [])
    })
  }

  test("ends with its owner, though that is killed at once", { skip: process.platform !== "linux" }, async () => {
    await using place = await codexMachine()
    const owner = startResumingChild("codex", place, {}, shell("setsid sleep 300 & sleep 300"))
    const commands = async () => (await place.processes()).filter((line) => line.startsWith("sleep"))
    await waitUntil("the command runs", async () => (await commands()).length > 1)
    owner.kill("SIGKILL")
    await waitUntil("nothing is left", async () => (await place.processes()).length === 0)
  })

  const failures: [string, string, RegExp][] = [
    ["a wrong key", "[[status:401]]", /^authentication$/],
    ["a limit", "[[status:429]]", /^rate-limited$/],
    // Codex reports high demand instead of the status.
    ["a broken service", "[[status:500]]", /^(overloaded|server-error)$/],
    ["a silent service", "[[hang]]", /^stalled$/],
  ]
  for (const [what, prompt, code] of failures) {
    test(`tells ${what} by a code, and is gone`, async () => {
      await using place = await codexMachine()
      const idleTimeoutMs = prompt === "[[hang]]" ? 5000 : 30_000
      const { status, error } = await codex({ ...place.options, idleTimeoutMs }).run(prompt).settled
      assert.equal(status, "failed")
      assert.match(error?.code ?? "", code, error?.message)
      assert.deepEqual(await place.processes(), [])
    })
  }

  test("tells when a usage limit is over", async () => {
    await using place = await codexMachine()
    const { error } = await codex(place.options).run("[[status:429 usage_limit_reached]]").settled
    assert.ok(error?.cause instanceof ProviderError)
    assert.equal(error.cause.code, "rate-limited")
    // In an hour, rounded to the minute.
    assert.ok(Math.abs((error.cause.retryAt ?? 0) - Date.now() - 3_600_000) < 120_000)
  })

  test("says so when it does not know a conversation", async () => {
    await using place = await codexMachine()
    await using session = await codex(place.options).session()
    await session.send("hello")
    const stranger = codex({ ...place.options, env: { ...place.options.env, CODEX_HOME: place.cwd } })
    await using other = await stranger.session({ resume: session.handle })
    const { error } = await other.send("again").settled
    assert.equal(error?.code, "session-not-found", error?.message)
  })
})
