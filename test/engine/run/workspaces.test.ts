// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, fn, jsRuntime, tool } from "karst"
import { createEngine } from "karst/engine"
import { type ModelRequest, scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import {
  localWorkspace,
  memoryWorkspace,
  overlayWorkspace,
  readOnlyWorkspace,
  scopedWorkspace,
  type Workspace,
} from "karst/workspaces"
import { call, calls } from "../../agent/tool-call-helpers.ts"

const turn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length

/** How often a durable run that a second engine continues raises the warning. */
async function warnings(workspace: Workspace): Promise<number> {
  const store = memoryStore()
  const agent = createAgent({
    model: scriptedModel((request) => (turn(request) === 0 ? "```ts\nawait pause()\n```" : "Done.")),
    runtime: () => jsRuntime({ pause: fn(async () => 1, { approve: true }) }),
    workspace,
  })
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  await first.close()
  await using second = createEngine({ agents: { agent }, store })
  await second.approve(id, pending?.id ?? "", "allow")
  assert.equal((await second.result(id)).status, "done")
  const events = await Array.fromAsync(second.watch(id))
  assert.equal(events[0]?.type, "run-start")
  return events.filter((event) => event.type === "warning-raised" && event.code === "workspace-not-durable").length
}

test("a durable run whose files are in memory raises a warning, once", async () => {
  assert.equal(await warnings(memoryWorkspace()), 1)
  assert.equal(await warnings(scopedWorkspace(memoryWorkspace(), "notes")), 1)
  assert.equal(await warnings(overlayWorkspace(localWorkspace(import.meta.dirname), memoryWorkspace())), 1)
})

test("a durable run whose files are kept, or cannot be changed, raises none", async () => {
  assert.equal(await warnings(localWorkspace(import.meta.dirname)), 0)
  assert.equal(await warnings(readOnlyWorkspace(memoryWorkspace({ "a.txt": "a" }))), 0)
})

test("a run that is not durable raises none", async () => {
  const agent = createAgent({
    model: scriptedModel(["Done."]),
    workspace: memoryWorkspace(),
    runtime: () => jsRuntime(),
  })
  const { trajectory } = await agent.run("Go")
  assert.ok(!trajectory.events.some(({ type }) => type === "warning-raised"))
})

test("the result of a durable run that another engine continues has the files of both parts", async () => {
  const store = memoryStore()
  const workspace = memoryWorkspace()
  const write = (path: string) => call("write_file", { path, content: "x" })
  const pay = tool({ name: "pay", description: "Pays.", approve: true, run: () => "Paid." })
  const answers = [calls(write("a.txt"), call("pay")), calls(write("b.txt")), "Done."]
  const model = scriptedModel((request) => answers[turn(request)] ?? "Too many.")
  const paying = createAgent({ model, workspace, tools: [pay] })
  const first = createEngine({ agents: { paying }, store, holdMs: 0 })
  const { id } = await first.submit("paying", "Go")
  const { pending } = await first.result(id)
  await first.close()
  await using second = createEngine({ agents: { paying }, store })
  await second.approve(id, pending?.id ?? "", "allow")
  assert.deepEqual((await second.result(id)).files, ["a.txt", "b.txt"])
})
