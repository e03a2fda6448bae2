import type { Server, ServerContext } from "@modelcontextprotocol/server"
import type { Approver } from "../actions/approve.ts"
import { fullCallText } from "../actions/preview-call.ts"

// A person may be at lunch.
const patienceMs = 3_600_000

/** Asks the person at the client about a call; undefined where the client cannot: it does not say that it can, or speaks the protocol
 *  of 2026, in which a server cannot ask in the middle of a call. */
export function askClient(server: Server, { mcpReq }: ServerContext): Approver | undefined {
  if (mcpReq.envelope || !server.getClientCapabilities()?.elicitation) return undefined
  return async (call, signal) => {
    const text = fullCallText(call)
    const message = text.includes("\n") ? `May this be called?\n\n${text}` : `May ${text} be called?`
    const { action, content } = await mcpReq.elicitInput(
      { mode: "form", message, requestedSchema },
      { signal, timeout: patienceMs },
    )
    if (action !== "accept") return "deny"
    return content?.answer === "always" ? "always" : content?.answer === "once"
  }
}

const requestedSchema = {
  type: "object" as const,
  properties: {
    answer: { type: "string" as const, title: "Answer", enum: ["once", "always", "no"], default: "once" },
  },
  required: ["answer"],
}
