// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { messageText } from "../../src/core/message.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { requires } from "../system.ts"
import { goodSummary } from "./memory-helpers.ts"

const places: Record<string, { open: () => Runtime; cell: (code: string) => string; skip: string | undefined }> = {
  "another process": { open: () => processRuntime(), cell: (code) => `\`\`\`ts\n${code}\n\`\`\`\n`, skip: undefined },
  Python: {
    open: () => pythonRuntime(),
    cell: (code) => `\`\`\`python\n${code}\n\`\`\`\n`,
    skip: requires("python", "zeromq"),
  },
}

describe("what a conversation lets go of", () => {
  for (const [place, { open, cell, skip }] of Object.entries(places)) {
    test(`can be read back by a cell in ${place}`, { skip }, async () => {
      const print = place === "Python" ? "print('row ' * 300)" : "console.log('row '.repeat(300))"
      const steps = Array.from({ length: 20 }, () => cell(print))
      const model = scriptedModel([...steps, "Done."], { contextWindow: 2000 })
      await using runtime = open()
      const memory = { model: scriptedModel(() => goodSummary("- the code is K7")), keepResults: 1 }
      const result = await createAgent({ model, runtime, memory, limits: { cycles: 30 } }).run("Remember K7.")
      const text = result.messages[0] ? messageText(result.messages[0]) : ""
      assert.match(text, /the code is K7[\s\S]*_output_1 to _output_\d/)
      for (const [name, said] of Object.entries({ _output_1: /row row row/, _history_1: /\[assistant\]/ })) {
        const read = await runtime.execute(name)
        assert.match(String(read.ok && read.preview), said)
        assert.match(String(await runtime.retrieve(name)), said)
      }
    })
  }
})
