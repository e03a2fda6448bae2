// The snippets of docs/tools.md, each run as it is shown there.

// #region directive
import { toolResult } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
// #region look-up
import { createAgent, tool, toolFailure } from "karst"
import { z } from "zod"
// #endregion
import { scriptedModel } from "../../src/models.ts"
import { call } from "../tools/delegate-case.ts"

describe("docs/tools.md", () => {
  test("shows a tool whose failure the model reads, and a run that ends with an answer", async () => {
    const signals: AbortSignal[] = []
    const known = new Map([[7, "two lamps"]])
    const orders = {
      async find(id: number, { signal }: { signal: AbortSignal }) {
        signals.push(signal)
        return known.get(id)
      },
    }
    const steps = [call("look_up", { id: -1 }), call("look_up", { id: 8 }), call("look_up", { id: 7 }), "Two lamps."]
    const model = scriptedModel(steps)
    // #region look-up
    const lookUp = tool({
      name: "look_up",
      description: "Finds an order by its number.",
      input: z.object({ id: z.int().positive() }), // zod, another Standard Schema, or JSON Schema
      async run({ id }, { signal }) {
        const order = await orders.find(id, { signal })
        return order ?? toolFailure("no-such-order", `There is no order ${id}. Ask the user for the number.`)
      },
    })
    const result = await createAgent({ model, tools: [lookUp] }).run("What was in order 7?")
    result.output // the model's answer
    result.completion // { by: "answer" }
    // #endregion
    assert.equal(result.output, "Two lamps.")
    assert.deepEqual(result.completion, { by: "answer" })
    const ends = result.trajectory.events.flatMap((event) =>
      event.type === "tool-end" ? [event.error?.code ?? event.text] : [],
    )
    assert.deepEqual(ends, ["invalid-input", "no-such-order", "two lamps"])
    assert.equal(signals.length, 2, "the input that does not fit never reached the tool")
    const asJsonSchema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] }
    assert.ok(tool({ name: "look_up", description: "The same.", input: asJsonSchema, run: () => "found" }))
  })

  test("shows a result that ends the run", async () => {
    const filed: string[] = []
    const file = async (report: { text: string }) => `Report ${filed.push(report.text)} is filed.`
    const submit = tool({
      name: "submit",
      description: "Files the report.",
      input: z.object({ text: z.string() }),
      // #region directive
      run: async (report) => toolResult({ text: "Filed.", directive: { kind: "finish", message: await file(report) } }),
      // #endregion
    })
    const model = scriptedModel([call("submit", { text: "Sales rose." })])
    const result = await createAgent({ model, tools: [submit] }).run("Report")
    assert.deepEqual([result.status, result.output, filed], ["done", "Report 1 is filed.", ["Sales rose."]])
  })

  test("shows the state of a run: the values at its start and at its end, and the todos", async () => {
    const book = tool({
      name: "book",
      description: "Books a hotel.",
      input: z.object({}),
      run(_, { state }) {
        state.set("booked", `for ${state.get("budget")}`)
      },
    })
    const todos = { todos: [{ title: "Book a hotel", status: "done" }] }
    const model = scriptedModel([call("write_todos", todos), call("book", {}), "Booked."])
    const agent = createAgent({ model, tools: [book], todos: true })
    // #region state
    const result = await agent.run("Plan the trip", { state: { budget: 900 } }) // the initial values
    result.state // { budget: 900, … }: the values at the end
    result.todos // [{ id, title, status }], from write_todos
    // #endregion
    assert.equal(result.state?.budget, 900)
    assert.equal(result.state?.booked, "for 900")
    assert.deepEqual(
      result.todos?.map((todo) => Object.keys(todo)),
      [["id", "title", "status"]],
    )
  })

  test("shows policies: a tool that one does not allow is not offered, and a call of it is refused", async () => {
    const tools = [
      tool({ name: "shell", description: "Runs a command.", input: z.object({}), run: () => "ran" }),
      tool({ name: "look_up", description: "Finds.", input: z.object({}), sideEffect: false, run: () => "found" }),
    ]
    const model = scriptedModel(({ messages }) => (messages.length > 1 ? "Done." : call("shell", {})))
    // #region policy
    const noShell = createAgent({ model, tools, toolPolicy: { deny: ["shell"] } })
    const onlyNamed = createAgent({ model, tools, toolPolicy: { allow: ["look_up"] } })
    const onlyReading = createAgent({ model, tools, toolPolicy: { only: (tool) => tool.options.sideEffect === false } })
    // #endregion
    for (const agent of [noShell, onlyNamed, onlyReading]) {
      const { trajectory } = await agent.run("List the files")
      const offered = model.requests.at(-1)?.tools?.map(({ name }) => name)
      assert.ok(offered?.includes("look_up") && !offered.includes("shell"), String(offered))
      const refused = trajectory.events.find((event) => event.type === "tool-end")
      assert.equal(refused?.error?.code, "unknown-tool")
    }
  })
})
