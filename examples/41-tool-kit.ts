// Your functions as tools of a coding CLI: a tool with a schema, methods of an object, and an agent. The CLI calls them
// by MCP from a loopback server; every call passes the call gate. Needs Claude Code.
import { createAgent, tool } from "karst"
import { methods } from "karst/mcp"
import { scriptedModel } from "karst/models"
import { claude } from "karst/providers"
import { z } from "zod"

class Cart {
  #items = new Map<string, number>()
  add(item: string, count = 1): string {
    this.#items.set(item, (this.#items.get(item) ?? 0) + count)
    return `${this.#items.get(item)} × ${item} in the cart`
  }
  pay(euros: number): string {
    return `Paid ${euros} € for ${[...this.#items.keys()].join(" and ")}.`
  }
}

const price = tool({
  name: "price",
  description: "What one of an item costs, in euros.",
  input: z.object({ item: z.enum(["tea", "cup"]) }),
  run: ({ item }) => ({ item, euros: item === "tea" ? 4 : 9 }),
})
const model = process.env.MODEL ?? scriptedModel(() => "Steam curls from the cup.")
const poet = createAgent({ name: "poet", description: "Writes one line about anything", model })
const kit = methods(new Cart(), { add: "Puts items into the cart.", pay: { description: "Pays.", approve: true } })

const shopper = claude({
  allow: [], // none of its own tools
  tools: [price, kit, poet],
  approver({ binding, args }) {
    console.log(`may ${binding}(${JSON.stringify(args)}) be called? yes`)
    return true
  },
})
for await (const event of shopper.run("Buy three teas and pay what they cost. Then let the poet say a line.")) {
  if (event.type === "tool-end") console.log(`${event.name}: ${event.text}`)
  if (event.type === "run-end" && !event.parent) console.log(event.error?.message ?? event.output)
}
