// The type gate: a cell is checked against the declarations before it runs, so an invented name costs no side effect.
// It needs the optional package typescript; "hint" only tells the model, "block" also keeps the cell from running.
import { createAgent, fn, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"

const sent: string[] = []
const runtime = jsRuntime({
  customers: variable([{ name: "Ada", email: "ada@example.org" }], { type: "{ name: string; email: string }[]" }),
  sendMail: fn((to: string, text: string) => sent.push(`${to}: ${text}`), {
    description: "Sends an e-mail, at once",
    signature: "(to: string, text: string) => number",
  }),
})

const model =
  process.env.MODEL ??
  scriptedModel([
    "```ts\nfor (const customer of customers) {\n  await sendMail(customer.email, 'Your order is on its way')\n  console.log('told', customer.names)\n}\n```\n",
    "It is `name`. Again:\n```ts\nfor (const customer of customers) {\n  await sendMail(customer.email, 'Your order is on its way')\n  console.log('told', customer.name)\n}\n```\n",
    "Every customer has one e-mail.",
  ])

const agent = createAgent({ model, runtime, typeGate: "block" })
for await (const event of agent.run("Tell every customer that the order is on its way.")) {
  if (event.type !== "code-end") continue
  console.log(event.ok ? "ran:" : `not run (${event.error?.kind}):`, event.text)
  console.log("mails so far:", sent.length, "\n")
}
console.log(sent)
