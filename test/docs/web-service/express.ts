// The program with Express in docs/web-service.md.
// #region express
import express from "express"
import { toNode } from "karst/server"
// #endregion
import { listen } from "../../server/loopback.ts"
import { sessions } from "./sessions.ts"

// #region express
const app = express()
// `express.text()` alone takes text/plain only
app.post("/chat", express.text({ type: "*/*" }), async (req, res) => {
  const session = await sessions.of(req.get("x-user") ?? "guest")
  await toNode(session.send(req.body), res)
})
// #endregion

export const start = () => listen(app)
