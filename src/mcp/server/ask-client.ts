// Asks the person at an MCP client to approve a call.
import type { Server, ServerContext } from "@modelcontextprotocol/server"
import type { Approver } from "../../actions/approval.ts"
import { fullCallText } from "../../actions/preview-call.ts"

/** One hour: the person may be away. */
export const answerTimeoutMs = 3_600_000

/** Returns true if the person at the client can be asked. Clients with the protocol of 2026 declare this in each
 *  request; over standard streams the server package does not know it otherwise. */
export function canAskClient(server: Server, { mcpReq: { envelope } }: ServerContext): boolean {
  const declared = envelope ? envelopeField(envelope, "clientCapabilities") : server.getClientCapabilities()
  return Object(declared).elicitation !== undefined
}

/** The client's name, if it sent one. */
export function clientName(server: Server, { mcpReq: { envelope } }: ServerContext): string | undefined {
  const { name }: { name?: unknown } = Object(envelopeField(envelope, "clientInfo") ?? server.getClientVersion())
  return typeof name === "string" ? name : undefined
}

function envelopeField(envelope: object | undefined, key: "clientCapabilities" | "clientInfo"): unknown {
  return envelope && Reflect.get(envelope, `io.modelcontextprotocol/${key}`)
}

/** Asks through a client with the protocol of 2025, where a server may ask during a call. */
export function askClient({ mcpReq }: ServerContext): Approver {
  return async (call, signal) => {
    const params = { mode: "form" as const, message: questionAbout(call), requestedSchema: answerSchema(true) }
    return decisionOf(await mcpReq.elicitInput(params, { signal, timeout: answerTimeoutMs }), true)
  }
}

export function questionAbout(call: Parameters<Approver>[0]): string {
  const text = fullCallText(call)
  return text.includes("\n") ? `May this be called?\n\n${text}` : `May ${text} be called?`
}

/** The schema of the answer. "always" requires a session. */
export function answerSchema(hasSession: boolean) {
  const answer = {
    type: "string" as const,
    title: "Answer",
    enum: hasSession ? ["once", "always", "no"] : ["once", "no"],
    default: "once",
  }
  return { type: "object" as const, properties: { answer }, required: ["answer"] }
}

/** Reads the client's answer. Anything but a clear yes among the offered answers denies the call. */
export function decisionOf(answer: unknown, hasSession: boolean): "allow" | "always" | "deny" {
  const { action, content } = Object(answer)
  const chosen: unknown = action === "accept" ? Object(content).answer : undefined
  return chosen === "once" ? "allow" : chosen === "always" && hasSession ? "always" : "deny"
}
