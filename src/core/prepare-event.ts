// Prepares the body of an event for publishing.
import type { EventBody } from "./event.ts"
import { copyIfJson } from "./json.ts"
import { boundedText } from "./text/error-text.ts"

/** Returns a copy of the body that can be stamped and frozen: data of the caller is copied, and failure messages are
 *  shortened. */
export function prepareEvent(body: EventBody): EventBody {
  switch (body.type) {
    case "run-start": {
      const messages = body.messages.map((message) =>
        Object.isFrozen(message) ? message : (copyIfJson(message) ?? message),
      )
      return { ...body, metadata: copyIfJson(body.metadata) ?? body.metadata, messages }
    }
    // Tools, servers and CLIs can produce failure messages of any length, and events are stored and sent many times.
    case "warning-raised":
      return { ...body, message: boundedText(body.message) }
    case "tool-end":
    case "code-end":
      return { ...body, ...(body.error && { error: withBoundedMessage(body.error) }) }
    case "call-end":
      return { ...body, ...(body.error !== undefined && { error: boundedText(body.error) }) }
    case "run-end": {
      const { error, detail } = body
      return {
        ...body,
        ...(error && { error: withBoundedMessage(error) }),
        ...(detail !== undefined && { detail: boundedText(detail) }),
      }
    }
    case "approval-requested":
      return { ...body, ...(body.reason !== undefined && { reason: boundedText(body.reason) }) }
    case "provider-changed":
    case "limit-waiting":
      return { ...body, reason: boundedText(body.reason) }
    default:
      return { ...body }
  }
}

function withBoundedMessage<T extends { message: string }>(error: T): T {
  return { ...error, message: boundedText(error.message) }
}
