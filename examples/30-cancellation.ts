// Cancellation: one signal stops the model's answer, a running tool and child runs, even if they ignore it. The run is
// aborted, every call has a result, and the session can continue.
import { setTimeout as sleep } from "node:timers/promises"
import { createAgent, tool } from "karst"
import { scriptedModel } from "karst/models"

const download = tool({
  name: "download",
  description: "Fetches a large file.",
  async run(_input, { signal, progress }) {
    for (let percent = 0; percent < 100; percent += 10) {
      progress(`${percent} %`)
      await sleep(10_000, undefined, { signal })
    }
    return "fetched"
  },
})

const helper = createAgent({
  name: "helper",
  model: scriptedModel([[{ type: "tool-call", id: "d", name: "download", input: {} }]]),
  tools: [download],
})
const delegate = tool({
  name: "ask_helper",
  description: "Lets the helper do it.",
  run: async () => (await helper.run("Fetch it")).output,
})

const model = scriptedModel([
  [
    { type: "tool-call", id: "1", name: "ask_helper", input: {} },
    { type: "tool-call", id: "2", name: "ask_helper", input: {} },
  ],
  "Then without the file.",
])
await using session = await createAgent({ model, tools: [delegate] }).session()

const controller = new AbortController()
const run = session.send("Fetch the file twice", { signal: controller.signal })
for await (const event of run) {
  if (event.type === "tool-delta") controller.abort()
  if (event.type === "tool-end") console.log(`${event.name}: ${event.text}`)
  if (event.type === "run-end") console.log(event.parent === undefined ? "run:" : "helper:", event.status)
}
console.log(await run.catch((error) => (error instanceof Error ? error.name : error)))
console.log((await session.send("Never mind the file")).output)
