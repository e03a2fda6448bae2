// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"

describe("an agent with a pythonRuntime", { skip: requires("python") }, () => {
  test("writes Python: it is told of everything there, its fences are python, and TypeScript is sent back", async () => {
    const setup = 'def double(n: int) -> int:\n    """Twice as much."""\n    return 2 * n'
    await using runtime = pythonRuntime({ start: 20 }, { setup })
    const model = scriptedModel([
      "Like this:\n```ts\nstart = 0\n```\n",
      "```python\nanswer = double(start) + 2\nprint(answer)\n```\n",
      "It is 42.",
    ])
    const { output, trajectory } = await createAgent({ model, runtime }).run("Compute it")
    assert.equal(output, "It is 42.")
    assert.equal(await retrieveAny(runtime, "answer"), 42)
    const cells = trajectory.events.flatMap((event) => (event.type === "code-end" ? event.text : []))
    assert.deepEqual(cells, ["<output>\n42\n(new: answer: int)\n</output>"])
    assert.match(JSON.stringify(model.requests[1]), /This session runs Python, so your TypeScript code was not run/)
    const asked = JSON.stringify(model.requests[0])
    assert.match(asked, /```python/)
    assert.match(asked, /def double\(n: int\) -> int:/)
    assert.doesNotMatch(asked, /```(ts|typescript)/)
  })

  test("is told what is gone, and apart from that what is as injected again, once for each crash", async () => {
    await using runtime = pythonRuntime({ sales: { a: 1 }, list: [1, 2], limit: 5 })
    const crash = "import os\nos._exit(1)"
    const model = scriptedModel([
      "```python\nmine = 1\nsales['b'] = 5\nlist.append(3)\n```\n",
      `\`\`\`python\n${crash}\n\`\`\`\n`,
      "```python\nprint(sales, list, limit)\n```\n",
      "Done.",
    ])
    const { trajectory } = await createAgent({ model, runtime }).run("Go")
    const cells = trajectory.events.flatMap((event) => (event.type === "code-end" ? event.text : []))
    assert.match(
      cells[1] ?? "",
      /The session was started again\. Gone: mine \([^)]*\)\. As injected again, without what cells did to them: sales, list\.\n<\/output>$/,
    )
    assert.equal(cells[2], "<output>\n{'a': 1} [1, 2] 5\n</output>")
  })
})
