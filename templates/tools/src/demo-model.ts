// Stands in for a model, so that the project runs without a key. It looks up the order that the prompt names. Delete it
// when you have a model.
import { messageText } from "karst"
import { scriptedModel } from "karst/models"

export const demoModel = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === "result") return `The order is on record: ${messageText(last).trim()}`
  const number = /\d+/.exec(last ? messageText(last) : "")?.[0]
  if (number === undefined) return "Which order? Name its number. (The demo model only looks orders up.)"
  return [{ type: "tool-call", id: `call-${messages.length}`, name: "look_up_order", input: { id: Number(number) } }]
})
