// Tools: functions that the model calls with validated JSON. The model sees failures with a code; text ends a run.
// The same tool is a function in a cell, through the same call gate.
import { createAgent, jsRuntime, tool, toolFailure } from "karst"
import { scriptedModel } from "karst/models"
import * as z from "zod"

const orders = new Map([
  [7, { item: "lamp", cents: 4900 }],
  [8, { item: "chair", cents: 12_900 }],
])

const lookUp = tool({
  name: "look_up",
  description: "Finds an order by its number.",
  input: z.object({ id: z.int().positive() }),
  output: z.object({ item: z.string(), cents: z.int() }),
  parallel: true,
  run: ({ id }) => orders.get(id) ?? toolFailure("no-such-order", `There is no order ${id}. Try another number.`),
})

const refundInput = z.object({ id: z.int(), cents: z.int().positive() })
const refund = tool({
  name: "refund",
  description: "Pays an order back.",
  input: refundInput,
  // Also asks if it throws.
  approve: ({ args: [order] }) => refundInput.parse(order).cents > 10_000,
  run: ({ id, cents }) => `Order ${id}: ${cents / 100} € are on their way.`,
})

const call = (name: string, input: { [key: string]: string | number }) =>
  ({ type: "tool-call", id: `${name} ${JSON.stringify(input)}`, name, input }) as const

const model =
  process.env.MODEL ??
  scriptedModel([
    [call("look_up", { id: "seven" }), call("look_up", { id: 9 }), call("look_up", { id: 7 })],
    [call("refund", { id: 7, cents: 4900 }), call("refund", { id: 8, cents: 12_900 }), call("delete_all", {})],
    "The lamp is refunded; the chair needs a person.",
  ])

const agent = createAgent({ model, tools: [lookUp, refund], approver: () => false })
const run = agent.run("Refund the lamp and the chair of order 7")
for await (const event of run) if (event.type === "tool-end") console.log(`${event.name}: ${event.text}`)
const { output, completion } = await run
console.log(output, completion)

// In a cell it is a function: the same schema, the same failures.
const cells = jsRuntime({ lookUp })
const total = await cells.execute(
  "(await Promise.all([7, 8].map((id) => lookUp({ id })))).reduce((sum, o) => sum + o.cents, 0)",
)
console.log("total:", total.ok && total.value)
const missing = await cells.execute("try { await lookUp({ id: 9 }) } catch (error) { console.log(error.code) }")
console.log("missing:", missing.stdout.trim())
