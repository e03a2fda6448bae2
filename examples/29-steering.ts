// Steering: a message to a running agent reaches the model before its next answer, and the remaining calls of the
// current answer are not made. followUp() queues the next prompt.
import { setTimeout as sleep } from "node:timers/promises"
import { createAgent, messageText, tool } from "karst"
import { scriptedModel } from "karst/models"

const cleaned: string[] = []
const clean = tool({
  name: "clean",
  description: "Cleans a room.",
  input: { type: "object", properties: { room: { type: "string" } }, required: ["room"] },
  async run({ room }) {
    await sleep(20)
    return `${cleaned.push(String(room))} done: ${room}`
  },
})

let id = 0
const call = (name: string, input: { [key: string]: string }) => ({
  type: "tool-call" as const,
  id: `${id++}`,
  name,
  input,
})
const model =
  process.env.MODEL ??
  scriptedModel([
    ["kitchen", "study", "bath"].map((room) => call("clean", { room })),
    [call("clean", { room: "bath" })],
    "Kitchen and bath are clean; I left the study alone.",
    "You are welcome.",
  ])

await using session = await createAgent({ model, tools: [clean] }).session()
const run = session.send("Clean the kitchen, the study and the bath")
const thanks = session.followUp("Thank you!")
for await (const event of run) {
  if (event.type === "tool-start") console.log("cleaning", event.input)
  if (event.type === "tool-start" && cleaned.length === 0) run.steer("Not the study, I am on the phone there.")
  if (event.type === "tool-end") console.log("  ", event.text)
  if (event.type === "prompt-steered") console.log("you:", messageText(event.message))
}
console.log((await run).output, cleaned)
console.log((await thanks).output)
