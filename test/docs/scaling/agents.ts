// The agents of the programs in docs/scaling.md. An answer names the process that executed the run.
import { createAgent, jsRuntime, messageText } from "karst"
import { scriptedModel } from "karst/models"

const model = scriptedModel(({ messages }) => {
  const result = messages.find(({ role }) => role === "result")
  return result ? `process ${/\d+/.exec(messageText(result))}` : "```ts\nprocessId()\n```"
})

export const agents = { analyst: createAgent({ model, runtime: () => jsRuntime({ processId: () => process.pid }) }) }
