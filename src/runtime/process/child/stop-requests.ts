// Receives the host's requests to stop a cell on a descriptor of its own. Code that blocks the event loop also blocks
// the socket of the other messages; the loop guard reads this descriptor directly.
import { readSync } from "node:fs"
import { Socket } from "node:net"
import { StringDecoder } from "node:string_decoder"

/** Calls `onStop` with the id of the execution and the reason. Returns a function that reads the requests that have
 *  arrived, without waiting for the event loop. */
export function listenForStops(descriptor: number, onStop: (execution: string, message: string) => void): () => void {
  const decoder = new StringDecoder("utf8")
  let unread = ""
  const receive = (bytes: Buffer) => {
    const lines = (unread + decoder.write(bytes)).split("\n")
    unread = lines.pop() ?? ""
    for (const line of lines) {
      const { x, message } = JSON.parse(line)
      onStop(String(x), String(message))
    }
  }
  // The socket makes the descriptor non-blocking, and receives the requests while no code blocks the event loop.
  const socket = new Socket({ fd: descriptor })
  socket.on("data", receive).on("error", () => undefined)
  socket.unref()
  const buffer = Buffer.alloc(4096)
  const bytesWaiting = () => {
    try {
      return readSync(descriptor, buffer)
    } catch {
      // EAGAIN: nothing has arrived.
      return 0
    }
  }
  return () => {
    const length = bytesWaiting()
    if (length > 0) receive(buffer.subarray(0, length))
  }
}
