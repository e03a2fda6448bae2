// test lane: clis, long
import assert from "node:assert/strict"
import { access } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { jsRuntime, tool } from "karst"
import { type CliAgent, type CliOptions, gemini, opencode } from "karst/providers"
import { requires } from "../../system.ts"
import { type CliMachine, eventsOfType, waitUntil } from "../cli-machines.ts"
import { resumeInChild } from "../resume-in-child.ts"
import { geminiMachine, opencodeMachine } from "../slow-cli-machines.ts"

const patience = 90_000

interface AcpCli {
  name: "opencode" | "gemini"
  bench(): Promise<CliMachine>
  agent(options: CliOptions & { protocol: "acp" }): CliAgent
  options?: CliOptions
  shell: string
  ours(tool: string): string
  failures: [prompt: string, code: RegExp][]
}

const clis: AcpCli[] = [
  {
    name: "opencode",
    bench: opencodeMachine,
    agent: opencode,
    shell: "bash",
    ours: (name) => `karst_${name}`,
    // It does not report the status, and retries some failures for long.
    failures: [
      ["[[status:401]]", /^(provider|stalled)$/],
      ["[[hang]]", /^stalled$/],
    ],
  },
  {
    name: "gemini",
    bench: geminiMachine,
    agent: gemini,
    options: { model: "gemini-2.5-flash" },
    shell: "run_shell_command",
    ours: (name) => `mcp_karst_${name}`,
    failures: [
      ["[[status:401]]", /^authentication$/],
      ["[[hang]]", /^stalled$/],
    ],
  },
]

for (const { name, bench, agent, shell, ours, failures, options: own } of clis) {
  const command = (line: string) => `[[tool:${shell} ${JSON.stringify({ command: line, description: "x" })}]]`

  describe(`${name} over ACP`, { skip: requires(name), concurrency: 2 }, () => {
    test("asks before it acts, and has our tools and live objects, all in one process", async () => {
      await using place = await bench()
      const asked: string[] = []
      const weigh = tool({
        name: "weigh",
        description: "Weighs things",
        input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
        run: async () => "3 kg",
      })
      await using runtime = jsRuntime({ light: { level: 1 } })
      await using session = await agent({
        ...place.options,
        ...own,
        protocol: "acp",
        idleTimeoutMs: patience,
        instructions: "Speak like a test.",
        tools: [weigh],
        runtime,
        permissions: "ask",
        approver: ({ binding, args }) => {
          asked.push(binding)
          return JSON.stringify(args).includes("refused") ? "deny" : "allow"
        },
      }).session()
      const did = await session.send(
        [
          command("echo made > made.txt"),
          `[[tool:${ours("weigh")} {"what":"stone"}]]`,
          `[[tool:${ours("run")} {"code":"light.level = 42"}]]`,
        ].join(" "),
      )
      assert.match(did.output, /3 kg.*42/s)
      const ends = eventsOfType(did.trajectory.events, "tool-end")
      assert.deepEqual(
        ends.map((end) => [end.name, end.ok]),
        [
          [shell, true],
          [ours("weigh"), true],
          [ours("run"), true],
        ],
      )
      assert.deepEqual([asked, await runtime.retrieve("light")], [[shell], { level: 42 }])
      await access(join(place.cwd, "made.txt"))
      assert.ok(JSON.stringify(place.model.requests.at(-1)?.body).includes("Speak like a test."))
      const before = await place.processes()

      const refused = await session.send(command("touch refused.txt"))
      const [end] = eventsOfType(refused.trajectory.events, "tool-end")
      assert.deepEqual([asked, end?.ok, end?.error?.kind], [[shell, shell], false, "refused"])
      await assert.rejects(access(join(place.cwd, "refused.txt")))
      assert.deepEqual(await place.processes(), before)

      await session.close()
      assert.deepEqual(await place.processes(), [])
    })

    test("leaves no process when it is aborted in the middle of a command, and goes on in another by its handle", async () => {
      await using place = await bench()
      const options = { ...place.options, ...own, protocol: "acp" as const, idleTimeoutMs: patience }
      await using session = await agent(options).session()
      const { output, usage } = await session.send("my number is 7")
      assert.deepEqual([output, usage.complete], ["pong: my number is 7", true])
      const run = session.send(command("sleep 300"))
      const sleeps = async () => (await place.processes()).some((line) => /^sleep/.test(line))
      await waitUntil("the command runs", sleeps, patience)
      run.abort()
      assert.equal((await run.settled).status, "aborted")
      assert.deepEqual(await place.processes(), [])
      const { handle } = session
      await session.close()
      const there = await resumeInChild(name, { ...place, options }, { resume: handle }, "again")
      assert.equal(there.output, "pong: again")
      assert.ok(JSON.stringify(place.model.requests.at(-1)?.body).includes("my number is 7"))
    })

    test("tells a wrong key and a silent service by a code each, and is gone", async () => {
      await using place = await bench()
      const options = { ...place.options, ...own, protocol: "acp" as const, idleTimeoutMs: patience }
      await using session = await agent(options).session()
      await session.send("hello")
      for (const [prompt, code] of failures) {
        const { error } = await session.send(prompt, { idleTimeoutMs: 12_000 }).settled
        assert.match(error?.code ?? "", code, error?.message)
      }
      assert.deepEqual(await place.processes(), [])
    })
  })
}
