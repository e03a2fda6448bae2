import assert from "node:assert/strict"
import { after, describe, test } from "node:test"
import { z } from "zod"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { Hooks } from "../../../src/index.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool, toolFailure, toolResult } from "../../../src/tools/tool.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import { lastResultText, modelRunningCells, runtimes } from "../../actions/every-runtime.ts"
import { call, calls, resultsIn } from "../tool-call-helpers.ts"

const made: unknown[] = []
const bindings = () => ({
  lookUp: tool({
    name: "look_up",
    description: "Finds an order by its number.",
    input: z.object({ id: z.int(), loud: z.boolean().default(false) }),
    output: z.object({ total: z.number() }),
    run({ id, loud }) {
      made.push([id, loud])
      if (id === 404) return toolFailure("no-such-order", "There is no order 404.")
      return toolResult({ text: "An order.", value: { total: id * 2 }, directive: { kind: "finish", message: "no" } })
    },
  }),
  wipe: tool({ name: "wipe", description: "Wipes.", approve: true, maxCalls: 1, run: () => "wiped" }),
  slow: tool({ name: "slow", description: "Slow.", timeoutMs: 20, run: () => new Promise(() => undefined) }),
  remember: tool({
    name: "remember",
    description: "Remembers.",
    async run(_input, { state, workspace, call }) {
      const times = Number(state.get("times") ?? 0) + 1
      state.set("times", times)
      return `${times} ${(await workspace.stat("here.txt")) ? "file" : "no file"} ${call === "" ? "no id" : "id"}`
    },
  }),
})

for (const { name, skip, open } of runtimes) {
  describe(`a tool as a function in ${name}`, { skip }, () => {
    const runtime = open(bindings())
    after(() => runtime.close())

    const outcomeOf = async (typescript: string, python = typescript, options = {}) => {
      made.length = 0
      const model = modelRunningCells(runtime, {
        typescript: `console.log(await ${typescript})`,
        python: `print(${python})`,
      })
      const result = await createAgent({ model, runtime, ...options }).run("go")
      return { said: lastResultText(model), result }
    }

    test("takes validated input and gives the value of its result, or its text", async () => {
      const { said, result } = await outcomeOf("lookUp({ id: 21 })", "lookUp(id=21)")
      assert.match(said, /42/)
      assert.deepEqual(made, [[21, false]])
      // A cell cannot end the run.
      assert.equal(result.output, "ok")
      assert.match((await outcomeOf("remember()")).said, /\d no file id/)
    })

    test("is not called with input that does not fit", async () => {
      const { said } = await outcomeOf("lookUp({ id: 'x' })", "lookUp(id='x')")
      assert.match(said, /Invalid input of lookUp: id: /)
      assert.deepEqual(made, [])
    })

    test("throws a failure with its message", async () => {
      assert.match((await outcomeOf("lookUp({ id: 404 })", "lookUp(id=404)")).said, /There is no order 404\./)
    })

    test("passes the gate: approval, limits, time-out, hooks", async () => {
      const approver = ({ binding }: { binding: string }) => binding === "wipe"
      assert.match((await outcomeOf("wipe()", "wipe()", { approver })).said, /wiped/)
      assert.match((await outcomeOf("wipe()", "wipe()", { approver: () => false })).said, /was not approved/)
      assert.match((await outcomeOf("slow()")).said, /took longer than 20 ms/)
      const hooks: Hooks = { beforeCall: () => ({ result: "hooked" }) }
      assert.match((await outcomeOf("wipe()", "wipe()", { hooks })).said, /hooked/)
      const twice = { typescript: "await wipe()\nawait wipe()", python: "wipe()\nwipe()" }
      const model = modelRunningCells(runtime, twice)
      await createAgent({ model, runtime, approver: () => true }).run("go")
      assert.match(lastResultText(model), /CallLimitReached/)
    })

    test("works with the files and the memory of the run that calls it", async () => {
      const workspace = memoryWorkspace()
      await workspace.write("here.txt", "x")
      const tick = { typescript: "console.log(await remember())", python: "print(remember())" }
      const model = modelRunningCells(runtime, tick, tick)
      await createAgent({ model, runtime, workspace }).run("go")
      assert.match(lastResultText(model, 1), /1 file id/)
      assert.match(lastResultText(model, 2), /2 file id/)
    })

    test("is declared by its schemas", async () => {
      const text = await runtime.describe(["lookUp"])
      assert.match(text, /Finds an order by its number/)
      assert.match(
        text,
        runtime.language === "python" ? /lookUp/ : /id: number[\s\S]*loud\?: boolean[\s\S]*total: number/,
      )
    })
  })
}

test("a failure in a cell has a code to branch on", async () => {
  const runtime = jsRuntime(bindings())
  const code = "try { await lookUp({ id: 404 }) } catch (error) { console.log(error.name, error.code) }"
  assert.equal((await runtime.execute(code)).stdout, "ToolFailed no-such-order\n")
})

test("a tool in a runtime without a run has no files, and remembers nothing", async () => {
  const runtime = jsRuntime(bindings())
  assert.equal((await runtime.execute("[await remember(), await remember()].join()")).ok, true)
  const { stdout } = await runtime.execute("console.log(await remember())")
  assert.equal(stdout, "1 no file id\n")
})

test("the tools of calls and those of cells share what they remember", async () => {
  const { remember } = bindings()
  const model = scriptedModel([calls("```ts\nawait count()\n```\n", call("remember")), "ok"])
  const agent = createAgent({ model, tools: [remember], runtime: jsRuntime({ count: remember }) })
  const { messages } = await agent.run("go")
  assert.equal(resultsIn(messages)[0]?.text, "2 no file id")
})
