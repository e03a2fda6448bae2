import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { requires } from "../system.ts"

const skip = requires("typescript") ?? false

function asked(typeGate: "block" | "hint", code: string) {
  const calls: string[] = []
  const agent = createAgent({
    model: scriptedModel([`\`\`\`ts\n${code}\n\`\`\``, "Done."]),
    runtime: () =>
      jsRuntime({
        send: fn(async (to: string) => void calls.push(to), { signature: "(to: string) => Promise<void>" }),
      }),
    typeGate,
  })
  return { run: agent.run("go"), calls }
}

test("an agent with a type gate tells the model what is wrong instead of running half a cell", { skip }, async () => {
  const { run, calls } = asked("block", "await send('a')\nawait sned('b')")
  const { messages } = await run
  assert.match(JSON.stringify(messages), /line 2, column 7: Cannot find name 'sned'. Did you mean 'send'\?/)
  assert.deepEqual(calls, [])
})

test("in hint mode the cell runs and the model reads the doubts beside its output", { skip }, async () => {
  const { run, calls } = asked("hint", "await send('a')\nconst list = [1]\nlist.lenght")
  const { messages } = await run
  assert.match(JSON.stringify(messages), /Doubtful, by its types:.*Did you mean 'length'/)
  assert.deepEqual(calls, ["a"])
})
