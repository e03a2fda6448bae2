// Data folders of the same shape that are not complete: what cannot be run is named, and the rest is run.
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { readBfcl } from "../../evals/bfcl/tasks.ts"
import { readRetail } from "../../evals/retail/tasks.ts"

describe("an incomplete data folder", () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-unseen-"))
  })

  after(() => rm(folder, { recursive: true }))

  async function write(name: string, files: Record<string, unknown>): Promise<string> {
    const own = join(folder, name)
    await mkdir(own, { recursive: true })
    for (const [file, content] of Object.entries(files)) {
      await writeFile(join(own, file), typeof content === "string" ? content : JSON.stringify(content))
    }
    return own
  }

  const retail = {
    "policy.json": { policy_md: "Help." },
    "tools_openai_schema.json": [],
    "db.json": { users: {}, orders: {}, products: {} },
  }
  const task = (id: string) => ({ id, user_scenario: { instructions: "Hello." }, evaluation_criteria: {} })
  const results = (id: string) => ({ id, actions: [], db_hash_neutral: "" })

  test("names the retail tasks without results, the results without a task, and what cannot be read", async () => {
    const own = await write("retail", {
      ...retail,
      "tasks_test.json": [task("1"), task("2"), { id: "4" }],
      "reference_test.json": { base_db_hash_neutral: "", tasks: [results("1"), results("3"), results("4")] },
    })
    const { tasks, skipped } = await readRetail(own)
    assert.deepEqual(
      tasks.map(({ id }) => id),
      ["1"],
    )
    assert.deepEqual(
      skipped.map(({ what }) => what),
      ["task 3", "task 4", "task 2"],
    )
    assert.equal(skipped[0]?.why, "tasks_test.json does not have it")
    assert.equal(skipped[2]?.why, "reference_test.json has no results of it")
  })

  test("is refused if it has no task at all, or a file that is not JSON", async () => {
    const none = await write("none", { ...retail, "tasks_a.json": [], "reference_a.json": { tasks: [] } })
    await assert.rejects(readRetail(none), /has no task that can be run; tasks are in tasks_<split>\.json/)
    const broken = await write("broken", { ...retail, "policy.json": "{" })
    await assert.rejects(readRetail(broken), /evaluation data: .*policy\.json cannot be read, it is not JSON/)
  })

  test("names the BFCL tasks that are only in one of two files", async () => {
    const question = (id: string) => ({ id, question: [[{ role: "user", content: "Hi" }]], involved_classes: [] })
    const own = await write("bfcl", {
      "func_doc.json": {},
      "a.json": [question("a1"), question("a2")],
      "a.recorded_results.json": ["a1", "a3"].map((id) => ({ id, turns: [[]] })),
    })
    const { tasks, skipped } = await readBfcl(own)
    assert.deepEqual([tasks.length, skipped.map(({ what }) => what)], [1, ["a3", "a2"]])
  })
})
