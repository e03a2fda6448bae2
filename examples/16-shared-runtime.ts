// Several agents share one runtime: each sees the objects that the others made, without passing anything.
// One cell runs at a time, first come, first served, so no agent sees a half-finished change.
import { createAgent, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"

interface Order {
  id: number
  items: number
  status: "new" | "packed" | "sent"
}
const orders: Order[] = [1, 2, 3, 4].map((id) => ({ id, items: id * 2, status: "new" }))
const runtime = jsRuntime({
  orders: variable(orders, "All orders"),
  journal: variable<string[]>([], "One line a change"),
})

const worker = (name: string, from: Order["status"], to: Order["status"]) =>
  createAgent({
    name,
    runtime,
    model:
      process.env.MODEL ??
      scriptedModel([
        `\`\`\`ts\nconst mine_${name} = orders.filter((order) => order.status === "${from}")\nmine_${name}.length\n\`\`\`\n`,
        `\`\`\`ts\nfor (const order of mine_${name}) {\n  order.status = "${to}"\n  journal.push(\`${name}: order \${order.id} is ${to}\`)\n}\n\`\`\`\n`,
        `All are ${to}.`,
      ]),
  })

const packer = worker("packer", "new", "packed")
const sender = worker("sender", "packed", "sent")

const packed = await packer.run("Pack every new order.")
console.log("packer:", packed.output)
const sent = await sender.run("Send every packed order.")
console.log("sender:", sent.output)

// Two at once: each adds to the same numbers, and neither loses what the other has added.
const counted = { items: 0 }
await runtime.inject({ counted: variable(counted, "How many items were counted") })
const count =
  "```ts\nfor (const order of orders) {\n  const before = counted.items\n  await null\n  counted.items = before + order.items\n}\n```\n"
const counters = ["north", "south"].map((name) =>
  createAgent({ name, runtime, model: process.env.MODEL ?? scriptedModel([count, "Counted."]) }),
)
await Promise.all(counters.map((counter) => counter.run("Add up the items of all orders.")))

console.log("items, counted twice:", counted)
console.log(await runtime.retrieve("journal"))
