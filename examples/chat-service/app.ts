// The routes: chat, reconnect, history, approvals, steering.
import { Hono } from "hono"
import { HTTPException } from "hono/http-exception"
import { AgentError } from "karst"
import { toBrowserMessages, toResponse } from "karst/server"
import type { Sessions } from "./sessions.ts"

// Take the user from your login, never from the body of a request.
function userOf(request: Request): string {
  const user = request.headers.get("x-user")
  if (!user) throw new HTTPException(401, { message: "x-user is missing" })
  return user
}

export function createApp(sessions: Sessions): Hono {
  const app = new Hono()

  app.post("/chat", async (c) => {
    const session = await sessions.of(userOf(c.req.raw))
    if (session.running?.pendingApprovals().length) return c.text("An approval is open.", 409)
    return toResponse(session.send(await c.req.text()), { request: c.req.raw })
  })

  app.get("/chat", async (c) => {
    // reconnect: the run under way, or the last one
    const { lastRun } = await sessions.of(userOf(c.req.raw))
    return lastRun ? toResponse(lastRun, { request: c.req.raw }) : c.body(null, 204)
  })

  app.get("/history", async (c) => {
    const session = await sessions.of(userOf(c.req.raw))
    return c.json({ messages: toBrowserMessages(session.trajectory().events), left: session.budgetLeft() })
  })

  app.get("/approvals", async (c) => {
    const { running } = await sessions.of(userOf(c.req.raw))
    const open = running?.pendingApprovals() ?? []
    return c.json(open.map(({ id, call }) => ({ id, call, text: running?.pendingCall(id) })))
  })

  app.post("/approvals/:id", async (c) => {
    const { running } = await sessions.of(userOf(c.req.raw))
    if (!running) return c.text("unknown-approval", 409)
    running.approve(c.req.param("id"), (await c.req.text()) === "allow" ? "allow" : "deny")
    return c.body(null, 204)
  })

  app.post("/steer", async (c) => {
    // a message while the agent works
    const session = await sessions.of(userOf(c.req.raw))
    session.steer(await c.req.text())
    return c.body(null, 204)
  })

  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse()
    if (error instanceof AgentError && ["unknown-approval", "conflict"].includes(error.code))
      return c.text(error.code, 409)
    console.error(error)
    return c.text("The server could not do this.", 500)
  })
  return app
}
