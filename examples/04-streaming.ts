// A run is awaitable and iterable: read its events as they happen, and await the same run for the result.
// `display(run)` from "karst/display" does this for a terminal; here is what it builds on.
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

const answers = [
  "Let me compute that.\n```ts\nconst squares = numbers.map((n) => n ** 2)\nconsole.log('largest', Math.max(...squares))\nsquares.reduce((a, b) => a + b)\n```\n",
  "The squares add up to 385; the largest is 100.",
]
const model = process.env.MODEL ?? scriptedModel(answers, { chunkChars: 8 })

const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
const run = createAgent({ model, runtime: jsRuntime({ numbers }) }).run("Sum the squares of `numbers`.")

for await (const event of run) {
  switch (event.type) {
    case "text-delta":
      process.stdout.write(event.text)
      break
    case "code-delta":
      if (event.of === "source") process.stdout.write(event.text)
      break
    case "code-end":
      console.log(`⎿ ${event.ok ? "ok" : "failed"} in ${event.durationMs} ms: ${event.text.replaceAll("\n", " ")}`)
      break
    case "run-end":
      console.log(`\n[${event.status} after ${event.cycles} cycles]`)
  }
}

const { usage, trajectory } = await run
console.log(
  usage.complete ? "counted" : "estimated",
  usage.input,
  "tokens in,",
  trajectory.events.length,
  "events kept",
)
