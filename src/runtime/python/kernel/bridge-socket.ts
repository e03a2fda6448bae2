// Listens on a Unix socket for the kernel to connect, and checks its token.
import { timingSafeEqual } from "node:crypto"
import { createServer, type Server, type Socket } from "node:net"
import { maxPythonDepth } from "../../handles/codec/python-decode.ts"
import { createSocketLink, maxHostUnreadBytes } from "../../handles/socket-frames.ts"
import type { FrameHandlers, FrameLink, WireObject } from "../../handles/wire.ts"

/** Calls `onLink` with the connection of the process that sends the token, which is the kernel; any other process is
 *  disconnected. `onLink` must call `listen` on the link at once. */
export async function listenForKernel(
  path: string,
  token: string,
  onLink: (link: FrameLink) => void,
): Promise<{ close(): void }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    const link = createSocketLink(socket, frameLimits)
    let handlers: FrameHandlers | undefined
    link.listen({
      onFrame(frame) {
        if (handlers) return handlers.onFrame(frame)
        if (!isToken(frame.message, token)) return link.close()
        server.close()
        socket.unref()
        onLink({
          ...link,
          listen(given) {
            handlers = given
          },
        })
      },
      onEnd: (problem) => handlers?.onEnd(problem),
    })
  })
  await new Promise<void>((listening, failed) => {
    server.once("error", failed)
    // The listening socket does not keep the program alive; the caller does, while it waits for the kernel.
    server.unref()
    server.listen(path, listening)
  })
  return {
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

// The kernel checks the same limits (channel.py).
const maxFrameBytes = 2 ** 29
const frameLimits = {
  maxBytes: maxFrameBytes,
  maxSentBytes: maxFrameBytes,
  maxDepth: maxPythonDepth,
  maxUnreadBytes: maxHostUnreadBytes,
}

function isToken(message: WireObject, token: string): boolean {
  const given = Buffer.from(typeof message.token === "string" ? message.token : "")
  const expected = Buffer.from(token)
  return message.k === "hello" && given.length === expected.length && timingSafeEqual(given, expected)
}
