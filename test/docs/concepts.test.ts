// The programs of docs/concepts.md, each run as it is shown there.

// #region bindings
import { classType, createAgent, fn, jsRuntime, variable } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { scriptedModel } from "karst/models"
import { z } from "zod"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

interface Task {
  name: string
}

describe("docs/concepts.md", () => {
  test("works on the bound objects, which stay the host's own", async () => {
    const names: string[] = []
    const addTask = (name: string): Task => {
      names.push(name)
      return { name }
    }
    class Light {
      level = 100
      dim(level: number) {
        this.level = level
      }
    }
    const light = new Light()
    const model = scriptedModel([
      cell("tasks.push(await addTask('buy milk'))\nlight.dim(20)\nconst other = new Light()"),
      "Added and dimmed.",
    ])
    // #region bindings
    const runtime = jsRuntime({
      tasks: variable([] as Task[], { type: "Task[]", description: "The user's tasks" }), // a variable
      addTask: fn(addTask, { description: "Adds a task." }), // a function: its calls pass the call gate
      Light: classType(Light), // a class the model may instantiate
      light, // anything else is a variable, by reference
    })
    const agent = createAgent({ model, runtime })
    await agent.run("Add 'buy milk' and dim the light")
    await runtime.retrieve("tasks") // Task[]: the type comes from the bindings
    await agent.runtime?.retrieve("light") // typed too, as in run.runtime and session.runtime
    // #endregion
    const tasks: Task[] = await runtime.retrieve("tasks")
    assert.deepEqual([tasks, names], [[{ name: "buy milk" }], ["buy milk"]])
    const retrieved: Light | undefined = await agent.runtime?.retrieve("light")
    assert.equal(retrieved, light)
    assert.equal(light.level, 20)
    assert.ok((await runtime.retrieve("other", z.instanceof(Light))) !== light)
    const declared = await agent.describe()
    assert.match(declared, /\/\*\* The user's tasks \*\/\ndeclare let tasks: Task\[\]/)
    assert.match(declared, /interface Task \{\s*name: string\s*\}/)
    assert.match(declared, /\/\*\* Adds a task\. \*\/\ndeclare function addTask\(name: string\): Promise<Task>/)
  })

  test("creates a runtime for each run from its metadata", async () => {
    const opened: unknown[] = []
    const openDatabase = (user: unknown, signal: AbortSignal) => {
      opened.push(user, signal.aborted)
      return { totalOf: () => (user === "ada" ? 42 : 0) }
    }
    const model = scriptedModel([cell("total = db.totalOf()"), "42."])
    // #region factory
    const perUser = createAgent({
      model,
      runtime: ({ session, metadata, signal }) => jsRuntime({ db: openDatabase(metadata.user, signal), session }),
    })
    const run = perUser.run("Add up my orders", { metadata: { user: "ada" }, outputs: { total: z.number() } })
    await run
    await run.runtime?.retrieve("total") // number: an output; "db" has the type of the binding
    // #endregion
    const total: number | undefined = await run.runtime?.retrieve("total")
    assert.equal(total, 42)
    assert.equal((await run.runtime?.retrieve("db"))?.totalOf(), 42)
    assert.equal(await run.runtime?.retrieve("session"), undefined)
    assert.deepEqual(opened, ["ada", false])
  })
})
