// The agent. The model sees the declarations of `orders` and `remind`, and works with them by writing code.
import { createAgent, fn, jsRuntime } from "karst"
import { demoModel } from "./demo-model.ts"

export interface Order {
  id: number
  customer: string
  euros: number
  daysOverdue: number
  reminded: boolean
}

/** A new list for each session. Yours may come from a file or a database. */
export function openOrders(): Order[] {
  return [
    { id: 1, customer: "Ada", euros: 120, daysOverdue: 0, reminded: false },
    { id: 2, customer: "Ben", euros: 80, daysOverdue: 12, reminded: false },
    { id: 3, customer: "Cleo", euros: 340, daysOverdue: 31, reminded: false },
  ]
}

/** Sends a reminder to a customer. Yours may send a mail. */
async function remind(customer: string): Promise<string> {
  return `A reminder was sent to ${customer}.`
}

export const clerk = createAgent({
  name: "clerk",
  instructions: "You look after the orders of a small shop. Remind only customers whose orders are overdue.",
  // Set KARST_MODEL to a real model, such as openai/gpt-5.2. Without it, a scripted one answers.
  model: process.env.KARST_MODEL || demoModel,
  // Model-written code runs in this process. Use processRuntime of karst/process for prompts of strangers.
  runtime: () => jsRuntime({ orders: openOrders(), remind: fn(remind) }),
})
