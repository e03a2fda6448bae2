// test lane: clis, long
// The programs of docs/providers.md, each run as it is shown there, with small programs in the place of the CLIs.

// #region acp
import { gemini } from "karst/providers"
// #endregion

// #region objects
import { jsRuntime, tool, variable } from "karst"
import { methods } from "karst/mcp"
// #endregion

import assert from "node:assert/strict"
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, type TestContext, test } from "node:test"

// #region use
import { claude, codex, fallback } from "karst/providers"
// #endregion

// #region choose
import { codingAgent } from "karst/providers"
// #endregion

// #region acp
import { acp, opencode } from "karst/providers"
// #endregion

import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { z } from "zod"
import { eventsOfType, processesWith } from "../providers/cli-machines.ts"
import { type CliPlan, createPlannedCliMachine } from "../providers/planned-clis.ts"
import { setVariables, workIn } from "./surroundings.ts"

const lookUp = tool({
  name: "look_up",
  description: "Looks a word up.",
  input: z.object({ word: z.string() }),
  run: ({ word }) => `${word}: found`,
})

describe("a coding CLI", () => {
  test("is run, read, replaced by another and given objects and tools", async (t) => {
    const { starts, processes, uninstall } = await machine(t, {
      "Make the failing": ["It passes."],
      "And the next": ["It passes too."],
      "Use it": [
        { tool: "look_up", input: { word: "karst" } },
        { tool: "run", input: { code: "light.level = 20" } },
        "Done.",
      ],
    })
    const light = { level: 100 }
    const runtime = jsRuntime({ light })
    const approver = () => true
    const printed = t.mock.method(console, "log", () => {})
    // #region use
    const agent = claude({ cwd: "./project", allow: ["read", "write", "exec"] })
    const { output, files, usage } = await agent.run("Make the failing test pass.") // await it, or
    for await (const event of agent.run("And the next one.")) console.log(event.type) // read its events

    const cwd = "./project"
    const coder = fallback(claude({ cwd }), codex({ cwd })) // the first that is installed and works
    const helped = claude({ cwd, runtime, tools: [lookUp], approver }) // your live objects and tools, inside it
    // #endregion
    assert.deepEqual([output, files ?? [], usage.costUsd], ["It passes.", [], 0.01])
    assert.equal(printed.mock.calls.at(-1)?.arguments[0], "run-end")
    const started = (await starts()).split("\n")[0] ?? ""
    assert.match(started, /--tools Read,Glob,Grep,Write,Edit,NotebookEdit,Bash,/)
    assert.doesNotMatch(started, /Web|Task,|AskUserQuestion/)
    assert.equal((await helped.run("Use it")).output, "Done.")
    assert.equal(light.level, 20)
    const { trajectory } = await coder.run("Make the failing test pass.")
    assert.deepEqual(
      eventsOfType(trajectory.events, "message-end").flatMap(({ provider }) => provider ?? []),
      ["claude"],
    )
    await uninstall("claude")
    assert.equal((await coder.run("Make the failing test pass.")).output, "It passes.")
    assert.match(await starts(), /exec --json/)
    assert.deepEqual(await processes(), [])
  })

  test("is chosen by its name, or is the first that is installed and works", async (t) => {
    const { starts } = await machine(t, {
      "claude: Fail": [{ fail: 401 }],
      "codex: Fail": [{ fail: 401 }],
      "codex: Later": [{ fail: 401 }],
      "claude: Later": ["Taken over."],
      Hi: ["Hello."],
    })
    const ours = createAgent({ name: "ours", model: scriptedModel(() => "Ours.") })
    const cwd = "./project"
    function choose() {
      // #region choose
      // "auto": KARST_PROVIDER, else every installed CLI, claude first
      const first = codingAgent({ cwd, model: "strongest" })
      // names in your order
      const ordered = codingAgent({ provider: ["codex", "claude"], failover: true })
      // instances with their own options; your own agents too
      const mixed = fallback(claude({ cwd }), codex({ cwd, model: "gpt-5.4-mini" }), ours)
      // #endregion
      return { first, ordered, mixed }
    }
    const { first, ordered, mixed } = choose()
    assert.deepEqual([first.provider, ordered.provider], ["claude", "codex"])
    assert.equal((await first.run("Hi")).output, "Hello.")
    assert.match(await starts(), /--model opus/)
    assert.equal((await mixed.run("Fail")).output, "Ours.")
    assert.match(await starts(), /gpt-5\.4-mini/)
    await using session = await ordered.session()
    assert.equal((await session.send("Hi")).output, "Hello.")
    assert.equal((await session.send("Later")).output, "Taken over.")
    process.env.KARST_PROVIDER = "codex"
    assert.equal(choose().first.provider, "codex")
  })

  test("calls your tools and works on your objects", async (t) => {
    const printed = t.mock.method(console, "log", () => {})
    const cart = {
      items: [] as string[],
      add(item: string) {
        this.items.push(item)
      },
    }
    await machine(t, {
      "Compare this month": [
        { tool: "look_up", input: { word: "sales" } },
        { tool: "add", input: { item: "tea" } },
        { tool: "reviewer", input: { prompt: "Is it right?" } },
        {
          tool: "run",
          input: { code: 'const row = db.prepare("select 3 as n").get()\nreport = `${row.n} sentences.`' },
        },
        "Done.",
      ],
      Double: [{ tool: "double", input: { n: 4 } }, "Done."],
    })
    const db = new DatabaseSync(":memory:")
    const reviewer = createAgent({ name: "reviewer", description: "Reviews.", model: scriptedModel(["It is right."]) })
    // #region objects
    const agent = codex({
      tools: [lookUp, methods(cart, { add: "Adds an item." }), reviewer], // tool(), functions, objects with state, agents
      runtime: jsRuntime({ db, report: variable("") }), // describe, run, inspect, wait
    })
    await agent.run("Compare this month with the last and put three sentences into `report`.")
    console.log(await agent.runtime?.retrieve("report"))
    // #endregion
    assert.deepEqual(printed.mock.calls[0]?.arguments, ["3 sentences."])
    assert.deepEqual(cart.items, ["tea"])
    function double(n: number): number {
      return n * 2
    }
    const { trajectory } = await agent.with({ tools: [double] }).run("Double")
    assert.match(JSON.stringify(trajectory.messages), /8/)
  })
})

describe("a program that speaks ACP", () => {
  test("is run by its command, or is opencode or Gemini CLI, and asks before it acts", async (t) => {
    await machine(t, {}, [])
    const fake = join(import.meta.dirname, "../fixtures/fake-acp.ts")
    const [bin = ""] = process.env.PATH?.split(delimiter) ?? []
    for (const name of ["my-agent", "opencode", "gemini"]) {
      const program = join(bin, name)
      await writeFile(program, `#!/bin/sh\nexec ${process.execPath} ${fake} "$@"\n`)
      await chmod(program, 0o755)
    }
    const asked: string[] = []
    const approver = (call: { binding: string }) => asked.push(call.binding) > 0
    // #region acp
    // npm install @agentclientprotocol/sdk
    const agent = acp({ command: "my-agent", args: ["--acp"], permissions: "ask", approver })
    const asking = opencode({ protocol: "acp", permissions: "ask", approver }) // and gemini({ protocol: "acp" })
    // #endregion
    assert.equal((await agent.run("ask execute")).output, "allow_once 1")
    assert.equal((await asking.run("ask execute")).output, "allow_once 1")
    assert.equal((await gemini({ protocol: "acp" }).run("say hello")).output, "hello 1")
    assert.equal(asked.length, 2)
  })
})

/** Installs the CLIs in PATH, which follow a plan, and makes an empty project the working directory's `project`. */
async function machine(t: TestContext, plan: CliPlan, installed?: string[]) {
  const folder = await workIn(t, { "project/readme.md": "" })
  const planned = await createPlannedCliMachine(plan, installed)
  t.after(() => planned[Symbol.asyncDispose]())
  const bin = join(folder, "bin")
  await mkdir(bin)
  for (const name of installed ?? ["claude", "codex"]) {
    const real = join(planned.env.HOME ?? "", "bin", name)
    await writeFile(join(bin, name), `#!/bin/sh\necho "$*" >> ${folder}/starts\nexec ${real} "$@"\n`, { mode: 0o755 })
  }
  const unset = { KARST_PROVIDER: undefined, KARST_MODEL: undefined, KARST_EFFORT: undefined, CODEX_HOME: undefined }
  setVariables(t, { ...planned.env, ...unset, PATH: [bin, planned.env.PATH].join(delimiter) })
  return {
    starts: () => readFile(join(folder, "starts"), "utf8"),
    processes: () => processesWith(`HOME=${planned.env.HOME}`),
    async uninstall(name: string) {
      for (const each of [folder, planned.env.HOME ?? ""]) await rm(join(each, "bin", name))
    },
  }
}
