// Stands in for a model, so that the project runs without a key. It knows one answer. Delete it when you have a model.
import { messageText } from "karst"
import { scriptedModel } from "karst/models"

const cell = `I look for overdue orders and remind their customers.

\`\`\`ts
const overdue = orders.filter((order) => order.daysOverdue > 0 && !order.reminded)
for (const order of overdue) {
  console.log(await remind(order.customer))
  order.reminded = true
}
\`\`\``

export const demoModel = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role !== "result") return cell
  const customers = [...messageText(last).matchAll(/sent to (\w+)/g)].map(([, name]) => name)
  if (customers.length === 0) return "Nobody is left to be reminded. (The demo model knows only this task.)"
  return `I reminded ${customers.join(" and ")}.`
})
