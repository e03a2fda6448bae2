// test lane: runtimes, long
// The second of the five ways in README.md, run as it is shown there.
import assert from "node:assert/strict"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { test } from "node:test"
// #region program
import { createAgent, guardInput, tool } from "karst"
import { localWorkspace } from "karst/workspaces"
import { z } from "zod"
// #endregion
import { scriptedModel } from "../../../src/models.ts"
import { call, resultIn } from "../../tools/delegate-case.ts"
import { workIn } from "../surroundings.ts"

test("README.md shows an agent with files, a shell, tools, sub-agents, skills, a guardrail and limits", async (t) => {
  await workIn(t)
  await mkdir("project")
  await mkdir("skills/release", { recursive: true })
  const description = "How to release. Use before a deployment."
  await writeFile("skills/release/SKILL.md", `---\nname: release\ndescription: ${description}\n---\nTag it first.\n`)
  const deployed: string[] = []
  const deploy = ({ to }: { to: string }) => `Version ${deployed.push(to)} is on ${to}.`
  const noSecrets = (text: string) => (/password/.test(text) ? { block: "No passwords, please." } : undefined)
  const prices = { price: { input: 1, output: 1 }, usage: { input: 10, output: 10, complete: true } }
  const reviewer = createAgent({ description: "Reviews changes", model: scriptedModel(["Looks good."], prices) })
  const model = scriptedModel(
    [
      call("activate_skill", { name: "release" }),
      call("write_file", { path: "notes.md", content: "ready\n" }),
      call("shell", { command: "wc -l notes.md" }),
      call("delegate", { tasks: [{ agent: "reviewer", prompt: "Review notes.md" }] }),
      call("deploy", { to: "staging" }),
      "It is on staging.",
    ],
    prices,
  )
  // #region program
  const coder = createAgent({
    model,
    workspace: localWorkspace("./project"), // read, write, edit, search; or memory, or S3
    shell: { sandbox: "auto" }, // each command needs approval
    tools: [
      tool({ name: "deploy", description: "…", input: z.object({ to: z.string() }), approve: true, run: deploy }),
    ],
    agents: { reviewer }, // agents it can delegate to
    skills: ["./skills"], // Agent Skills, activated when a task needs them
    hooks: [guardInput(noSecrets)],
    limits: { tokens: 200_000, costUsd: 1, calls: 50 },
  })
  // #endregion
  const asked: string[] = []
  const approver = (call: { binding: string }) => asked.push(call.binding) > 0
  const result = await coder.run("Release it", { approver })
  assert.deepEqual([result.status, result.output], ["done", "It is on staging."])
  assert.match(JSON.stringify(model.requests[1]?.messages), /Tag it first\./)
  assert.equal(await readFile("project/notes.md", "utf8"), "ready\n")
  assert.match(resultIn(model.requests[3]), /1 notes\.md/)
  assert.match(resultIn(model.requests[4]), /reviewer\] done\.[\s\S]*Looks good\./)
  assert.deepEqual(deployed, ["staging"])
  assert.deepEqual(asked, ["shell", "deploy"])
  assert.equal(result.usage.costUsd && result.usage.costUsd > 0, true)

  const blocked = await coder.run("My password is 1234")
  assert.deepEqual([blocked.status, blocked.reason], ["stopped", "guardrail"])
  assert.equal(model.requests.length, 6)
})
