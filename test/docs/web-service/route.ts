// The program with Next in docs/web-service.md.
// #region next
import { toResponse } from "karst/server"
// #endregion
import { sessions } from "./sessions.ts"

// #region next
export async function POST(request: Request): Promise<Response> {
  const session = await sessions.of(request.headers.get("x-user") ?? "guest")
  return toResponse(session.send(await request.text()), { request })
}
// #endregion
