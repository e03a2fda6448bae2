// The agent and its tools. The model calls tools with JSON; it writes no code.
import { createAgent, tool, toolFailure } from "karst"
import { demoModel } from "./demo-model.ts"

// Yours may be a database.
export const orders = new Map([
  [7, { item: "tent", euros: 180, status: "paid" }],
  [8, { item: "lamp", euros: 25, status: "sent" }],
])

const id = { type: "integer", minimum: 1, description: "The number of the order" }
const input = { type: "object", properties: { id }, required: ["id"], additionalProperties: false }

const lookUpOrder = tool({
  name: "look_up_order",
  description: "Finds an order by its number.",
  input,
  sideEffect: false,
  run: ({ id }) =>
    orders.get(Number(id)) ?? toolFailure("no-such-order", `There is no order ${id}. Ask for the number.`),
})

const refundOrder = tool({
  name: "refund_order",
  description: "Pays the price of an order back.",
  input,
  // The command asks you before each call. Outside of a terminal, the call is refused.
  approve: true,
  run({ id }) {
    const order = orders.get(Number(id))
    if (!order) return toolFailure("no-such-order", `There is no order ${id}. Ask for the number.`)
    order.status = "refunded"
    return order
  },
})

export const support = createAgent({
  name: "support",
  instructions: "You answer questions about orders. Look an order up before you say anything about it.",
  // Set KARST_MODEL to a real model, such as openai/gpt-5.2. Without it, a scripted one answers.
  model: process.env.KARST_MODEL || demoModel,
  tools: [lookUpOrder, refundOrder],
})
