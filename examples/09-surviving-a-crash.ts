// Generated code that crashes its process, loops for ever or uses all memory does not harm your program.
// The runtime restarts, binds your objects again, and reports to the model which names are lost.
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import * as z from "zod"

await using runtime = processRuntime({ numbers: [3, 1, 2] }, { limits: { heapBytes: 64 * 2 ** 20 } })

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nconst sorted = numbers.toSorted()\nnew Function('return process')().abort()\n```\n",
    "```ts\nfor (let n = 0; ; n++) numbers.sort()\n```\n",
    "```ts\nconst hoard = []\nwhile (true) hoard.push(new Array(1e6).fill(1))\n```\n",
    "That was careless three times. Once more, with care.\n```ts\nconst sorted = numbers.toSorted()\nsorted\n```\n",
    "Sorted: 1, 2, 3.",
  ])

const agent = createAgent({ model, runtime, cellTimeoutMs: 3000 })
for await (const event of agent.run("Sort the numbers.")) {
  if (event.type === "code-end") console.log(event.ok ? "ran:" : `${event.error?.kind}:`, event.text, "\n")
  if (event.type === "run-end") console.log(event.output)
}
console.log(await runtime.retrieve("sorted", z.array(z.number())))
