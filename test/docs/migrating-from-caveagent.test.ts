// The program of docs/migrating-from-caveagent.md that is Karst's, run as it is shown there.

// #region program
import { classType, createAgent, fn, jsRuntime, variable } from "karst"
// #endregion

import assert from "node:assert/strict"
import { test } from "node:test"
import { scriptedModel } from "karst/models"

interface Task {
  name: string
}

class Light {
  brightness = 100
}

test("docs/migrating-from-caveagent.md shows the same program in Karst", async (t) => {
  const tasks: Task[] = []
  const addTask = (name: string) => tasks.push({ name })
  const model = scriptedModel(["```ts\nawait addTask('buy milk')\nnew Light().brightness\n```", "Added."])
  const logged = t.mock.method(console, "log", () => {})
  // #region program
  const runtime = jsRuntime({
    tasks: variable(tasks, "The user's tasks"),
    addTask: fn(addTask),
    Light: classType(Light),
  })
  const agent = createAgent({ model, runtime, limits: { cycles: 10 } })
  const result = await agent.run("Add 'buy milk'")
  console.log(result.output, await runtime.retrieve("tasks"))
  // #endregion
  assert.deepEqual(logged.mock.calls[0]?.arguments, ["Added.", [{ name: "buy milk" }]])
  const system = model.requests[0]?.system ?? ""
  for (const part of ["The user's tasks", "declare function addTask(", "declare class Light"])
    assert.ok(system.includes(part), part)
  assert.match(JSON.stringify(model.requests[1]?.messages), /100/)
})
