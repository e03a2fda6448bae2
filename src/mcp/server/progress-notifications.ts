import type { ServerContext } from "@modelcontextprotocol/server"

const maxMessageChars = 1000

/** Tells a client how far its call is, where it asked for that. What comes while a note is on its way goes with the next. */
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
    // A client that is gone hears nothing of it.
    if (!isSending) void send().catch(() => undefined)
  }
}
