// Starts the service: MODEL=openai/gpt-5.2 PORT=8080 node server.ts
import { serve } from "@hono/node-server"
import { createSupportAgent, type Shop } from "./agent.ts"
import { createApp } from "./app.ts"
import { createSessions } from "./sessions.ts"

// Your database.
const shop: Shop = {
  ordersOf: async () => [{ id: 1, item: "lamp", euros: 49 }],
  refund: async (user, order, euros) => `${euros} € of order ${order} go back to ${user}.`,
}

const sessions = createSessions(createSupportAgent(process.env.MODEL ?? "openai/gpt-5.2", shop), ".karst")
const port = Number(process.env.PORT ?? 8080)
const server = serve({ fetch: createApp(sessions).fetch, port }, (at) => console.log(`Listening on port ${at.port}.`))

process.once("SIGTERM", async () => {
  server.close()
  await sessions.closeAll()
  process.exit()
})
