import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import type { AgentOptions } from "../../src/agent/agent-config.ts"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError } from "../../src/core/errors.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { tool } from "../../src/tools/tool.ts"
import { localWorkspace } from "../../src/workspaces/local.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { call, calls, toolEnds } from "./tool-call-helpers.ts"

const note = tool({ name: "note", description: "", run: () => "noted" })
const model = scriptedModel(() => "Done.")
const runtime = () => jsRuntime({})

describe("an option that would have no effect beside the others", () => {
  for (const [name, value] of [
    ["cellTimeoutMs", 1000],
    ["typeGate", "block"],
    ["fence", "ts"],
    ["transaction", true],
  ] as const) {
    test(`is an error: ${name} for an agent that works by tools only`, () => {
      const cure = { name: "ConfigError", message: new RegExp(`^${name}: .*runtime: \\(\\) => jsRuntime\\(\\)`) }
      for (const own of [{ tools: [note] }, { workspace: memoryWorkspace() }, { shell: true }]) {
        assert.throws(() => createAgent({ model, ...own, [name]: value }), cure)
      }
      assert.throws(() => createAgent({ model, tools: [note] }).run("go", { [name]: value }), cure)
      createAgent({ model, tools: [note], runtime, [name]: value })
    })
  }

  test("is an error: todos or compactMemory for an agent with a runtime and no tools", () => {
    for (const option of ["todos", "compactMemory"] as const) {
      const message = new RegExp(`^ConfigError: ${option}: this agent has no tools\\. Give it tools`)
      assert.throws(() => createAgent({ model, runtime, [option]: true }), message)
      createAgent({ model, runtime, [option]: false })
      createAgent({ model, runtime, tools: [note], [option]: true })
      assert.throws(
        () => createAgent({ model, tools: [note], ...JSON.parse(`{"${option}":"yes"}`) }),
        new RegExp(option),
      )
    }
  })

  test("is an error: noTool for an agent with a runtime, whose answer without code always ends the run", () => {
    for (const noTool of ["wait", "continue"] as const) {
      assert.throws(() => createAgent({ model, tools: [note], runtime, noTool }), /^ConfigError: noTool: .*runtime/)
    }
    createAgent({ model, tools: [note], runtime, noTool: "answer" })
  })

  test("is an error: stopOn for an agent with a runtime and no tools", () => {
    assert.throws(() => createAgent({ model, runtime, stopOn: "first-tool" }), /^ConfigError: stopOn: .*tools/)
  })

  test("is an error: messages for a run that continues another", async () => {
    const agent = createAgent({ model })
    const from = await agent.run("go")
    assert.throws(() => agent.run("go", { from, messages: [] }), /^ConfigError: messages: .*from/)
  })

  test("is fine if it says what happens anyway", () => {
    createAgent({ model, tools: [note], transaction: false, typeGate: "off" })
  })
})

describe("a shell", () => {
  const folder = mkdtempSync(join(tmpdir(), "shell-"))
  after(() => rmSync(folder, { recursive: true }))

  test("without a workspace that is a folder is an error with the cure", async () => {
    const others: Partial<AgentOptions>[] = [{}, { runtime }, { tools: [note] }, { workspace: memoryWorkspace() }]
    for (const other of others) {
      await assert.rejects(
        async () => await createAgent({ model, shell: true, ...other }).run("go"),
        (error: unknown) =>
          error instanceof ConfigError && /^shell: .*workspace: localWorkspace\(dir\)/.test(error.message),
      )
    }
  })

  test("works in the folder of the run that starts its agent", async () => {
    const shell = { approve: false }
    const helper = createAgent({ model: scriptedModel([calls(call("shell", { command: "pwd" })), "Done."]), shell })
    const agents = { helper: helper.with({ noTool: "answer" }) }
    const task = { tasks: [{ agent: "helper", prompt: "Where?" }] }
    const lead = createAgent({
      model: scriptedModel([calls(call("delegate", task)), "Done."]),
      agents,
      workspace: localWorkspace(folder),
      noTool: "answer",
    })
    const { trajectory } = await lead.run("go")
    const end = toolEnds(trajectory.events).find(({ name }) => name === "shell")
    assert.match(end?.text ?? "", new RegExp(folder))
  })
})
