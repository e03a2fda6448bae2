import { boundedText } from "./error-text.ts"
import type { EventBody } from "./event.ts"
import { jsonCopy } from "./json.ts"

/** Makes the body of an event ready to be stamped and frozen, in place: messages of failures are bounded, and what
 *  belongs to the caller is copied. */
export function prepareEvent(event: EventBody): void {
  if (event.type === "run-start") {
    event.metadata = jsonCopy(event.metadata) ?? event.metadata
    event.messages = event.messages.map((message) =>
      Object.isFrozen(message) ? message : (jsonCopy(message) ?? message),
    )
  }
  boundFailures(event)
}

// Such a message may be as long as a tool, a server or a CLI made it, and events are kept, sent and shown many times.
function boundFailures(event: EventBody): void {
  switch (event.type) {
    case "warning-raised":
      event.message = boundedText(event.message)
      break
    case "tool-end":
    case "code-end":
      if (event.error) event.error = { ...event.error, message: boundedText(event.error.message) }
      break
    case "call-end":
      if (event.error !== undefined) event.error = boundedText(event.error)
      break
    case "run-end":
      if (event.error) event.error = { ...event.error, message: boundedText(event.error.message) }
      if (event.detail !== undefined) event.detail = boundedText(event.detail)
      break
    case "approval-requested":
      if (event.reason !== undefined) event.reason = boundedText(event.reason)
      break
    case "provider-changed":
    case "limit-waiting":
      event.reason = boundedText(event.reason)
  }
}
