// test lane: runtimes, long
// The program of docs/files-and-shell.md, run as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { test } from "node:test"

// #region agent
import { createAgent } from "karst"
import { localWorkspace } from "karst/workspaces"
// #endregion

import type { Json } from "karst"
import { type ModelPart, scriptedModel } from "karst/models"
import { workIn } from "./surroundings.ts"

test("an agent with a workspace and a shell has tools for files and runs commands there", async (t) => {
  await workIn(t, { "project/a.txt": "one\n" })
  const call = (name: string, input: Json): ModelPart[] => [{ type: "tool-call", id: name, name, input }]
  const model = scriptedModel([
    call("write_file", { path: "b.txt", content: "two\n" }),
    call("shell", { command: "cat a.txt b.txt > c.txt" }),
    call("search_files", { pattern: "two" }),
    "Done.",
  ])
  // #region agent
  const agent = createAgent({ model, workspace: localWorkspace("./project"), shell: { sandbox: "auto" } })
  // #endregion
  await agent.with({ approver: () => true }).run("Join the files")
  assert.equal(await readFile("project/c.txt", "utf8"), "one\ntwo\n")
  assert.match(JSON.stringify(model.requests.at(-1)?.messages), /b\.txt[\s\S]*c\.txt/)
  const names =
    "list_files find_files file_info read_file write_file edit_file search_files read_image shell check_command"
  const offered = new Set(model.requests[0]?.tools?.map(({ name }) => name))
  assert.deepEqual(
    names.split(" ").filter((name) => !offered.has(name)),
    [],
  )
  assert.match(model.requests[0]?.system ?? "", /project[\s\S]*a\.txt/)
})
