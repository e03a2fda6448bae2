// The program of docs/migrating-from-vv-agent.md that is Karst's, run as it is shown there.
import assert from "node:assert/strict"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { test } from "node:test"
// #region program
import { createAgent } from "karst"
import { localWorkspace } from "karst/workspaces"
// #endregion
import { modelServices, setVariables, workIn } from "./surroundings.ts"

test("docs/migrating-from-vv-agent.md shows the same program in Karst", async (t) => {
  await workIn(t)
  await mkdir("work")
  await writeFile("work/notes.md", "pen\napple\n")
  setVariables(t, { MOONSHOT_API_KEY: "a-key" })
  const { asked, requests } = await modelServices(
    t,
    { toolCalls: [call("1", "read_file", { path: "notes.md" })], finish: "tool-calls" },
    { toolCalls: [call("2", "write_file", { path: "notes.md", content: "apple\npen\n" })], finish: "tool-calls" },
    { text: ["Sorted."] },
  )
  const logged = t.mock.method(console, "log", () => {})
  // #region program
  const agent = createAgent({
    model: "moonshot/kimi-k2.5",
    instructions: "You are helpful.",
    workspace: localWorkspace("./work"),
    limits: { cycles: 20 },
  })
  const result = await agent.run("Sort the notes")
  console.log(result.status, result.output)
  // #endregion
  assert.deepEqual(logged.mock.calls[0]?.arguments, ["done", "Sorted."])
  assert.equal(await readFile("work/notes.md", "utf8"), "apple\npen\n")
  assert.equal(asked[0], "https://api.moonshot.ai/v1/chat/completions")
  assert.match(JSON.stringify(requests[0]?.body), /kimi-k2\.5[\s\S]*You are helpful\./)
})

const call = (id: string, name: string, input: object) => ({ id, name, arguments: JSON.stringify(input) })
