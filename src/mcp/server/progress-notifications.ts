// Sends progress of a call to the client.
import type { ServerContext } from "@modelcontextprotocol/server"

const maxMessageChars = 1000

/** Creates a function that sends progress, if the client requested it. Texts that arrive while a notification is
 *  being sent are sent with the next one. */
export function createProgressNotifier({ mcpReq }: ServerContext): (text: string) => void {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => {}
  let progress = 0
  let waiting = ""
  let isSending = false

  async function send(): Promise<void> {
    isSending = true
    while (waiting !== "" && !mcpReq.signal.aborted) {
      const message = waiting
      waiting = ""
      progress++
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } })
    }
    isSending = false
  }

  return (text) => {
    waiting = (waiting + text).slice(-maxMessageChars)
    // Ignored if the client is gone.
    if (!isSending) void send().catch(() => undefined)
  }
}
