import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Todo } from "../../src/core/agent.ts"
import type { Json } from "../../src/core/json.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { isToolResult, type ToolContext, type ToolResult } from "../../src/tools/tool.ts"
import { readTodos, todosTool } from "../../src/tools/write-todos.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { call, calls, finish, toolEnds } from "../agent/tool-call-helpers.ts"

describe("write_todos", () => {
  test("replaces the whole list, and shows it with its marks and ids", async () => {
    const { write, todos } = list()
    await write([{ title: "Read" }, { title: "Write", status: "in_progress" }])
    const { text } = await write([{ title: "Write", status: "done" }, { title: " Send " }])
    const [written, sent] = todos()
    assert.deepEqual(
      todos().map(({ title, status }) => [title, status]),
      [
        ["Write", "done"],
        ["Send", "pending"],
      ],
    )
    assert.equal(text, `[x] Write (${written?.id})\n[ ] Send (${sent?.id})`)
  })

  test("keeps the ids of todos, by their id or by their title", async () => {
    const { write, todos } = list()
    await write([{ title: "Read" }, { id: "w", title: "Write" }])
    const [read] = todos()
    await write([{ id: "w", title: "Write it all" }, { title: "Read", status: "done" }, { title: "Read" }])
    const ids = todos().map(({ id }) => id)
    assert.deepEqual(ids.slice(0, 2), ["w", read?.id])
    assert.equal(new Set(ids).size, 3)
  })

  test("has at most one in progress, and names those that are too many", async () => {
    const { write, todos } = list()
    await write([{ title: "Read" }])
    const refused = await write([
      { title: "Read", status: "in_progress" },
      { title: "Write", status: "in_progress" },
    ])
    assert.deepEqual([refused.ok, refused.code], [false, "many-in-progress"])
    assert.match(refused.text, /"Read", "Write"/)
    assert.equal(todos().length, 1)
  })

  test("takes no two todos of one id, no empty title and no unknown status", async () => {
    const { write } = list()
    const same = [
      { id: "a", title: "Read" },
      { id: "a", title: "Write" },
    ]
    assert.equal((await write(same)).code, "same-id")
    for (const todo of [{ title: " " }, { title: "Read", status: "begun" }, {}]) {
      assert.equal((await todosTool().accept({ todos: [todo] })).ok, false)
    }
  })

  test("is for every agent that changes nothing outside", async () => {
    const model = scriptedModel([calls(call("write_todos", { todos: [] })), calls(finish())])
    const toolPolicy = {
      only: (tool: { options: { sideEffect?: boolean | undefined } }) => tool.options.sideEffect === false,
    }
    const { trajectory } = await createAgent({
      noTool: "continue",
      todos: true,
      model,
      workspace: memoryWorkspace(),
      toolPolicy,
    }).run("go")
    assert.equal(toolEnds(trajectory.events)[0]?.text, "No todos.")
  })
})

function list(): { write(todos: Json): Promise<ToolResult>; todos(): readonly Todo[] } {
  const values = new Map<string, Json>()
  const context: ToolContext = {
    call: "call_1",
    signal: new AbortController().signal,
    workspace: memoryWorkspace(),
    state: { get: (key) => values.get(key), set: (key, value) => void values.set(key, value) },
    progress: () => undefined,
  }
  const tool = todosTool()
  return {
    async write(todos) {
      const input = await tool.accept({ todos })
      assert.ok(input.ok)
      const result = await tool.run(input.value, context)
      assert.ok(isToolResult(result))
      return result
    },
    todos: () => readTodos(context.state),
  }
}
