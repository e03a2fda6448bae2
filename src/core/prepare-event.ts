import type { EventBody } from "./event.ts"
import { copyIfJson } from "./json.ts"
import { boundedText } from "./text/error-text.ts"

/** The body of an event, ready to be stamped and frozen: a copy in which messages of failures are bounded and what belongs
 *  to the caller is copied. The given body is not changed. */
export function prepareEvent(body: EventBody): EventBody {
  switch (body.type) {
    case "run-start": {
      const messages = body.messages.map((message) =>
        Object.isFrozen(message) ? message : (copyIfJson(message) ?? message),
      )
      return { ...body, metadata: copyIfJson(body.metadata) ?? body.metadata, messages }
    }
    // The message of a failure may be as long as a tool, a server or a CLI made it, and events are kept, sent and shown many
    // times.
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
