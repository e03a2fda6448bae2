import assert from "node:assert/strict"
import { access } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { jsRuntime, tool } from "karst"
import type { CliAgent, CliOptions } from "karst/providers"
import type { CliName } from "../../scripts/clis.ts"
import { requires, skipUnless } from "../system.ts"
import { type CliMachine, eventsOfType, waitUntil } from "./cli-machines.ts"
import { resumeInChild } from "./resume-in-child.ts"

/** A CLI whose turns take seconds, so that it is tested in few turns. */
export interface SlowCli {
  name: CliName & ("opencode" | "gemini")
  title: string
  bench(): Promise<CliMachine>
  agent(options: CliOptions): CliAgent
  /** The prompt directive that runs a shell command, and its names of our tools. */
  shell(command: string): string
  ours(tool: string): string
  /** The system prompt in a request to its model. */
  systemOf(body: unknown): string
  /** Prompts whose failures it reports too late or never. */
  silent: readonly string[]
  /** The error code of a prompt, if it differs from other CLIs. */
  codes?: Record<string, RegExp>
}

const patience = 90_000
const slow = { timeout: 300_000 }
const slowest = { ...slow, skip: skipUnless("KARST_REQUIRE_ALL") }

export function slowSuite({ name, title, bench, agent, shell, ours, systemOf, silent, codes = {} }: SlowCli): void {
  const open = async () => {
    const place = await bench()
    // The first start creates databases and caches.
    return { place, options: { ...place.options, idleTimeoutMs: patience } satisfies CliOptions }
  }

  describe(title, { skip: requires(name), concurrency: 2 }, () => {
    test("answers as the instructions say, and names what it used", slow, async () => {
      const { place, options } = await open()
      await using _ = place
      const { output, usage } = await agent({ ...options, instructions: "Speak like a test." }).run("hello")
      assert.equal(output, "pong: hello")
      assert.deepEqual([usage.complete, usage.cacheRead], [true, 40])
      assert.ok(systemOf(place.model.requests.at(-1)?.body).includes("Speak like a test."))
    })

    test("uses a command, a tool of ours and live objects, and the token is in no argument", slow, async () => {
      const { place, options } = await open()
      await using _ = place
      let seen: string[] = []
      const weigh = tool({
        name: "weigh",
        description: "Weighs things",
        input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
        async run() {
          seen = await place.processes()
          return "3 kg"
        },
      })
      await using runtime = jsRuntime({ light: { level: 1 } })
      const prompt = [
        shell("echo made > made.txt"),
        `[[tool:${ours("weigh")} {"what":"stone"}]]`,
        `[[tool:${ours("run")} {"code":"light.level = 42"}]]`,
      ].join(" ")
      const { output, trajectory } = await agent({ ...options, tools: [weigh], runtime }).run(prompt)
      assert.match(output, /3 kg.*42/s)
      assert.deepEqual(
        eventsOfType(trajectory.events, "tool-end").map(({ ok }) => ok),
        [true, true, true],
      )
      assert.deepEqual(await runtime.retrieve("light"), { level: 42 })
      await access(join(place.cwd, "made.txt"))
      assert.ok(seen.length > 0 && !seen.join().includes("Bearer"))
    })

    test("has no tool that was not allowed", slowest, async () => {
      const { place, options } = await open()
      await using _ = place
      const { trajectory } = await agent({ ...options, allow: ["read"] }).run(shell("touch refused.txt"))
      assert.deepEqual(
        eventsOfType(trajectory.events, "tool-end").map(({ ok }) => ok),
        [false],
      )
      await assert.rejects(access(join(place.cwd, "refused.txt")))
    })

    test("goes on in another process by its handle alone", slowest, async () => {
      const { place, options } = await open()
      await using _ = place
      const session = await agent(options).session()
      await session.send("my number is 7")
      const { handle } = session
      await session.close()
      const there = await resumeInChild(name, { ...place, options }, { resume: handle }, "again")
      assert.equal(there.output, "pong: again")
      assert.ok(JSON.stringify(place.model.requests.at(-1)?.body).includes("my number is 7"))
    })

    test("leaves no process when it is aborted in the middle of a command", slowest, async () => {
      const { place, options } = await open()
      await using _ = place
      const run = agent(options).run(shell("sleep 300"))
      await waitUntil(
        "the command runs",
        async () => (await place.processes()).some((line) => /^sleep/.test(line)),
        patience,
      )
      run.abort()
      assert.equal((await run.settled).status, "aborted")
      assert.deepEqual(await place.processes(), [])
    })

    const failures: [string, string, RegExp][] = [
      ["a wrong key", "[[status:401]]", /^authentication$/],
      ["a limit", "[[status:429]]", /^rate-limited$/],
      ["a broken service", "[[status:500]]", /^server-error$/],
      ["a silent service", "[[hang]]", /^stalled$/],
    ]
    test(
      "tells a wrong key, a limit, and a broken and a silent service by a code each, and is gone",
      slowest,
      async () => {
        const { place, options } = await open()
        await using _ = place
        // Warms the CLI up, so that the time-out below measures only the service.
        await agent(options).run("hello")
        for (const [what, prompt, code] of failures) {
          // A failure that the CLI never reports ends in the idle time-out.
          const idleTimeoutMs = silent.includes(prompt) ? 15_000 : patience
          const { status, error } = await agent({ ...options, idleTimeoutMs }).run(prompt).settled
          assert.equal(status, "failed")
          assert.match(error?.code ?? "", codes[prompt] ?? code, `${what}: ${error?.message}`)
          assert.deepEqual(await place.processes(), [])
        }
      },
    )

    test("says how to install it where it is missing", slowest, async () => {
      const { place, options } = await open()
      await using _ = place
      const missing = { ...options, program: undefined, env: { ...options.env, PATH: place.cwd } }
      const { error } = await agent(missing).run("hello").settled
      assert.deepEqual([error?.code, /npm install/.test(error?.message ?? "")], ["not-installed", true])
    })
  })
}
