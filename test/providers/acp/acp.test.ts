// test lane: clis, long
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { tool } from "karst"
import { type AcpOptions, acp, type CliAgent } from "karst/providers"
import { eventsOfType, processesWith, waitUntil } from "../cli-machines.ts"

interface Machine extends AsyncDisposable {
  readonly folder: string
  agent(options?: Partial<AcpOptions>, ...flags: string[]): CliAgent
  processes(): Promise<string[]>
}

/** A machine with a small program that speaks ACP: test/fixtures/fake-acp.ts. */
async function machine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), "karst-acp-test-"))
  const program = join(import.meta.dirname, "../..", "fixtures", "fake-acp.ts")
  return {
    folder,
    agent: (options, ...flags) =>
      acp({
        command: process.execPath,
        args: [program, ...flags],
        cwd: folder,
        env: { HOME: folder },
        idleTimeoutMs: 20_000,
        maxRetries: 0,
        autoWait: false,
        ...options,
      }),
    processes: () => processesWith(`HOME=${folder}`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

// The program answers "env" with how it was started and opened.
const surroundings = (output: string) => JSON.parse(output.replace(/ \d+$/, ""))

describe("an agent that speaks ACP", () => {
  test("answers in one process for the whole session, and names what each turn has used", async () => {
    await using place = await machine()
    await using session = await place.agent().session()
    const first = await session.send("think junk say hello")
    assert.deepEqual([first.output, first.usage], ["hello 1", { complete: true, input: 10, output: 2, costUsd: 0.5 }])
    const { parts } = first.messages.at(-1) ?? { parts: [] }
    assert.deepEqual(parts, [
      { type: "reasoning", text: "let me think" },
      { type: "text", text: "hello 1" },
    ])
    const raw = eventsOfType(first.trajectory.events, "raw-received").map(({ data }) => JSON.stringify(data))
    assert.ok(
      ["this is no JSON", "neither", "of_tomorrow", "plan"].every((word) => raw.some((line) => line.includes(word))),
    )
    const before = await place.processes()
    const second = await session.send("say again")
    assert.deepEqual([second.output, second.usage.costUsd], ["again 2", 0.5])
    assert.deepEqual([await place.processes(), before.length], [before, 1])
    await session.close()
    assert.deepEqual(await place.processes(), [])
  })

  for (const [name, tools] of [
    ["acp-opencode", ["bash", "write"]],
    ["acp-gemini", ["run_shell_command", "write_file", "list_directory"]],
    ["acp-gemini-mcp", ["mcp_acphttp_add"]],
  ] as const) {
    test(`tells of ${name} what was recorded, and answers what it asked`, async () => {
      await using place = await machine()
      const { output, trajectory, status } = await place.agent().run(`replay ${name}`)
      assert.equal(status, "done")
      assert.match(output, /^tool said: /)
      const ends = eventsOfType(trajectory.events, "tool-end")
      assert.deepEqual(
        ends.map((end) => [end.name, end.ok]),
        tools.map((each) => [each, true]),
      )
    })
  }

  test("may do what is allowed, and is refused the rest", async () => {
    await using place = await machine()
    const granted = await place.agent().run("ask execute")
    assert.equal(granted.output, "allow_once 1")
    const { output, trajectory } = await place.agent({ allow: ["read"] }).run("ask execute")
    assert.equal(output, "reject_once 1")
    const [end] = eventsOfType(trajectory.events, "tool-end")
    assert.deepEqual([end?.name, end?.ok, end?.error?.kind], ["execute", false, "refused"])
    const warned = eventsOfType(trajectory.events, "warning-raised").filter(({ code }) => code === "not-enforced")
    assert.equal(warned.length, 4)
    const free = await place.agent({ allow: ["read"], permissions: "bypass" }).run("ask execute")
    assert.deepEqual([free.output, eventsOfType(free.trajectory.events, "warning-raised")], ["allow_once 1", []])
  })

  test("asks whoever answers, and hears a no", async () => {
    await using place = await machine()
    const asked: unknown[] = []
    const agent = place.agent({
      permissions: "ask",
      approver({ binding, args }) {
        asked.push([binding, ...args])
        return "deny"
      },
    })
    assert.equal((await agent.run("ask edit")).output, "reject_once 1")
    assert.equal((await agent.run("ask read")).output, "allow_once 1")
    assert.deepEqual(asked, [["edit", { kind: "edit" }]])
  })

  test("refuses at once and warns the host without an approver, and asks by events where these answer", async () => {
    await using place = await machine()
    const agent = place.agent({ permissions: "ask" })
    const refused = await agent.run("ask edit")
    assert.equal(refused.output, "reject_once 1")
    const warned = eventsOfType(refused.trajectory.events, "warning-raised").filter(
      ({ code }) => code === "no-approver",
    )
    assert.match(warned[0]?.message ?? "", /edit needs approval and there is no approver/)
    const run = agent.run("ask edit", { approver: "events" })
    for await (const event of run) if (event.type === "approval-requested") run.approve(event.id, "allow")
    assert.equal((await run).output, "allow_once 1")
    const late = await agent.run("ask edit", { approver: "events", approvalTimeoutMs: 20 })
    assert.equal(late.output, "reject_once 1")
  })

  test("fails its turn when it dies, and is begun again with the same conversation", async () => {
    await using place = await machine()
    await using session = await place.agent().session()
    await session.send("say one")
    const dead = await session.send("exit 3").settled
    assert.deepEqual([dead.status, dead.error?.code], ["failed", "exit"])
    assert.deepEqual(await place.processes(), [])
    const next = await session.send("say three")
    assert.equal(next.output, "three 3")
    assert.ok(!JSON.stringify(next.messages).includes("an old answer"))
    const { handle } = session
    await session.close()
    await using resumed = await place.agent().session({ resume: handle })
    const there = await resumed.send("say four")
    assert.deepEqual([there.output, there.messages.length], ["four 4", 2])
  })

  test("leaves no process when it is aborted, when it falls silent, and when its time is over", async () => {
    await using place = await machine()
    await using session = await place.agent().session()
    const run = session.send("hang")
    await waitUntil("it hangs", async () => (await place.processes()).some((line) => line.startsWith("sleep")))
    run.abort()
    assert.equal((await run.settled).status, "aborted")
    assert.deepEqual(await place.processes(), [])
    assert.equal((await session.send("say back")).output, "back 2")
    for (const [limits, code] of [
      [{ idleTimeoutMs: 1500 }, "stalled"],
      [{ timeoutMs: 1500 }, "timeout"],
    ] as const) {
      const { error } = await session.send("hang", limits).settled
      assert.deepEqual([error?.code, error?.message.includes("1500 ms")], [code, true])
      assert.deepEqual(await place.processes(), [])
    }
  })

  test("is told its model, its servers and, once, its instructions, and is begun again where they change", async () => {
    await using place = await machine()
    const weigh = tool({ name: "weigh", description: "Weighs", input: { type: "object" }, run: async () => "3 kg" })
    const options = { model: "fake-2", instructions: "Be brief.", tools: [weigh] }
    const mcpServers = { files: { command: "serve-files", args: ["."], env: { DEPTH: "2" } } }
    await using session = await place.agent({ ...options, mcpServers }).session()
    const { chosen, opened, texts, pid } = surroundings((await session.send("env")).output)
    assert.deepEqual([chosen, texts], [{ which: "fake-2" }, ["Be brief.", "env"]])
    const [files, own] = opened.mcpServers
    const env = [{ name: "DEPTH", value: "2" }]
    assert.deepEqual(files, { name: "files", command: "serve-files", args: ["."], env })
    assert.deepEqual(
      [own.type, own.name, own.headers.map((each: { name: string }) => each.name)],
      ["http", "karst", ["Authorization"]],
    )
    const again = surroundings((await session.send("env")).output)
    assert.deepEqual([again.pid, again.texts], [pid, ["env"]])
    const other = surroundings((await session.send("env", { model: "fake-3" })).output)
    assert.deepEqual([other.pid === pid, other.chosen], [false, { which: "fake-3" }])
  })

  test("says what an agent that announces nothing cannot do", async () => {
    await using place = await machine()
    const { output, trajectory } = await place.agent({ model: "x" }, "plain").run("say yes")
    assert.equal(output, "yes 1")
    assert.deepEqual(
      eventsOfType(trajectory.events, "warning-raised").map(({ code }) => code),
      ["cli-option"],
    )
    const weigh = tool({ name: "weigh", description: "Weighs", input: { type: "object" }, run: async () => "3 kg" })
    const unserved = await place.agent({ tools: [weigh] }, "plain").run("say yes").settled
    assert.match(unserved.error?.message ?? "", /takes no MCP servers over HTTP/)
    const image = { type: "image" as const, mediaType: "image/png", data: "AAAA" }
    const unseen = await place.agent({}, "plain").run([{ type: "text", text: "see" }, image]).settled
    assert.match(unseen.error?.message ?? "", /does not accept images/)
    const seen = await place.agent().run([{ type: "text", text: "env" }, image])
    assert.deepEqual(surroundings(seen.output).texts, ["env", "[image]"])
    await using session = await place.agent({}, "plain").session()
    await session.send("exit 1").settled
    const { error } = await session.send("say back").settled
    assert.deepEqual([error?.code, /neither session\/load/.test(error?.message ?? "")], ["session-not-found", true])
    assert.deepEqual(await place.processes(), [])
  })

  test("is authenticated where it asks for that, and says how where nobody did", async () => {
    await using place = await machine()
    assert.equal((await place.agent({ auth: "key" }, "locked").run("say in")).output, "in 1")
    const { error } = await place.agent({}, "locked").run("say in").settled
    assert.deepEqual([error?.code, /acp\(\{ auth: "key" \}\)/.test(error?.message ?? "")], ["authentication", true])
  })

  test("fails by a code where the service does, and where the protocol or the program is not there", async () => {
    await using place = await machine()
    const failure = async (agent: CliAgent, prompt = "say x") => (await agent.run(prompt).settled).error
    assert.equal((await failure(place.agent(), "fail 429"))?.code, "rate-limited")
    assert.match((await failure(place.agent(), "fail 500"))?.message ?? "", /it cannot: be done/)
    assert.equal((await failure(place.agent({}, "ancient")))?.code, "protocol")
    const missing = await failure(place.agent({ command: "no-such-agent" }))
    assert.deepEqual([missing?.code, missing?.message.includes("no-such-agent")], ["not-installed", true])
    const silent = place.agent({ command: "sleep", args: ["300"], idleTimeoutMs: 1000 })
    assert.equal((await failure(silent))?.code, "stalled")
    assert.deepEqual(await place.processes(), [])
  })
})
