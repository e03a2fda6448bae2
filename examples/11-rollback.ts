// Transactions: a cell that throws, or fails your check, is rolled back: every object is as it was, also by identity.
// The model sees this and tries again. A transaction that succeeded can be undone until the next cell.
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

const accounts = [
  { owner: "Ada", balance: 100 },
  { owner: "Grace", balance: 50 },
]
const total = () => accounts.reduce((sum, { balance }) => sum + balance, 0)
const runtime = jsRuntime({ accounts })

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\naccounts[0].balance -= 30\naccounts.find(({ owner }) => owner === 'Grce').balance += 30\n```\n",
    "A typo. Again:\n```ts\naccounts[0].balance -= 30\naccounts[1].balance += 300\n```\n",
    "That made money from nothing. Again:\n```ts\naccounts[0].balance -= 30\naccounts[1].balance += 30\n```\n",
    "Ada sent Grace 30.",
  ])

const agent = createAgent({ model, runtime, transaction: { check: () => total() === 150 } })
for await (const event of agent.run("Move 30 from Ada to Grace.")) {
  if (event.type === "code-end") console.log(event.ok ? "kept:" : "rolled back:", event.text, accounts, "\n")
  if (event.type === "run-end") console.log(event.output, "\n")
}

const execution = await runtime.execute("accounts.pop()", { transaction: true })
console.log("one account less:", accounts.length)
if (execution.ok) await execution.undo?.()
console.log("undone:", accounts.length, accounts[1])
