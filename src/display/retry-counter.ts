// Joins the warnings about repeated requests to a model into one text with their number.
import type { AgentEvent } from "../core/event.ts"
import { safeText } from "./safe-text.ts"

/** Returns a function that holds back such warnings of one run, and returns true for them. Before the next other event
 *  it passes their text to `write`. The status line shows each of them at once. */
export function createRetryCounter(write: (text: string) => void): (event: AgentEvent) => boolean {
  let cause = ""
  let retries = 0
  function flush(): void {
    if (retries === 0) return
    write(`${cause} Tried again${retries === 1 ? "" : ` ${retries} times`}.`)
    retries = 0
  }
  return (event) => {
    if (event.type !== "warning-raised" || event.code !== "model-retried") {
      flush()
      return false
    }
    const text = safeText(event.message).replace(/ Trying again in [\d.]+ s \(retry \d+\)\.$/, "")
    if (text !== cause) flush()
    cause = text
    retries++
    return true
  }
}
