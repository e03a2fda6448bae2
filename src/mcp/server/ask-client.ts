import type { Server, ServerContext } from "@modelcontextprotocol/server"
import type { Approver } from "../../actions/approval.ts"
import { fullCallText } from "../../actions/preview-call.ts"

/** A person may be at lunch. */
export const answerTimeoutMs = 3_600_000

/** Whether a person at the client can be asked. Clients of the protocol of 2026 declare that with each request; the server
 *  package knows it from nowhere else over standard input and output. */
export function canAskClient(server: Server, { mcpReq: { envelope } }: ServerContext): boolean {
  const declared = envelope ? envelopeField(envelope, "clientCapabilities") : server.getClientCapabilities()
  return Object(declared).elicitation !== undefined
}

/** The name of the client, where it gives one. */
export function clientName(server: Server, { mcpReq: { envelope } }: ServerContext): string | undefined {
  const { name }: { name?: unknown } = Object(envelopeField(envelope, "clientInfo") ?? server.getClientVersion())
  return typeof name === "string" ? name : undefined
}

function envelopeField(envelope: object | undefined, key: "clientCapabilities" | "clientInfo"): unknown {
  return envelope && Reflect.get(envelope, `io.modelcontextprotocol/${key}`)
}

/** Asks the person at a client of the protocol of 2025, in which a server may ask in the middle of a call. */
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

/** The form of the answer. "always" needs a session in which it holds. */
export function answerSchema(hasSession: boolean) {
  const answer = {
    type: "string" as const,
    title: "Answer",
    enum: hasSession ? ["once", "always", "no"] : ["once", "no"],
    default: "once",
  }
  return { type: "object" as const, properties: { answer }, required: ["answer"] }
}

/** Reads an answer of the client. Anything that is not a clear yes is a no, and so is an answer that was not offered. */
export function decisionOf(answer: unknown, hasSession: boolean): "allow" | "always" | "deny" {
  const { action, content } = Object(answer)
  const chosen: unknown = action === "accept" ? Object(content).answer : undefined
  return chosen === "once" ? "allow" : chosen === "always" && hasSession ? "always" : "deny"
}
