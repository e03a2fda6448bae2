// Your live objects in Claude Code and Codex: both run cells in the same runtime and change your objects. Names that
// they create stay. Needs both CLIs; with only one of them, the run of the other fails.
import { createAgent, fn, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"
import { claude, codex } from "karst/providers"

const lamp = (room: string) => ({
  room,
  brightness: 100,
  dim(to: number): string {
    this.brightness = to
    return `${room} is at ${to} %`
  },
})
const lamps = [lamp("kitchen"), lamp("study")]
const runtime = jsRuntime({
  lamps: variable(lamps, "The lamps of the house"),
  report: variable("", "What was done, in a sentence"),
  lock: fn(() => "locked", { description: "Locks the front door", approve: true }),
})

const options = { runtime, allow: [], approver: () => false }
for (const [agent, prompt] of [
  [claude(options), "Dim every lamp in `lamps` to 20 %. Lock the door if you may."],
  [codex(options), "Look at `lamps`, then assign a sentence about them to `report`."],
] as const) {
  for await (const event of agent.run(prompt)) {
    if (event.type === "tool-start") console.log(`${agent.name} ${JSON.stringify(event.input)}`)
    if (event.type === "run-end") console.log(`${agent.name}: ${event.error?.message ?? event.output}`)
  }
}

// And an agent of ours goes on with the same objects.
const model = process.env.MODEL ?? scriptedModel(["```ts\nlamps[1].dim(0)\n```", "Good night."])
console.log((await createAgent({ model, runtime }).run("Turn off the study.")).output)
console.log(
  lamps.map(({ room, brightness }) => `${room} ${brightness}`),
  await runtime.retrieve("report"),
)
