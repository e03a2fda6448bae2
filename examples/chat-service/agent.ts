// The agent: what it may call for one user, and which calls need approval.
import { createAgent, fn, type ModelSource } from "karst"
import { processRuntime } from "karst/process"

export interface Shop {
  ordersOf(user: string): Promise<{ id: number; item: string; euros: number }[]>
  refund(user: string, order: number, euros: number): Promise<string>
}

export const createSupportAgent = (model: ModelSource, shop: Shop) =>
  createAgent({
    name: "support",
    model,
    instructions: "You help a customer of a shop with their orders.",
    cellTimeoutMs: 20_000,
    // A factory: every session has a process, names and functions of its own. The id of a session is the user's.
    runtime({ session: user }) {
      if (user === undefined) throw new Error("The support agent works in sessions only.")
      return processRuntime(
        {
          listOrders: fn(() => shop.ordersOf(user)),
          refund: fn((order: number, euros: number) => shop.refund(user, order, euros), {
            // Asks unless the amount is a number up to 100.
            approve: ({ args: [, euros] }) => !(typeof euros === "number" && euros <= 100),
          }),
        },
        { isolation: "auto" },
      )
    },
  })
