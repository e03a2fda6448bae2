import { timingSafeEqual } from "node:crypto"
import { createServer, type Server, type Socket } from "node:net"
import type { Json } from "../../core/json.ts"

/** A frame of the side socket: JSON, and buffers that its values refer to by number. */
export interface Frame {
  message: { [key: string]: Json }
  buffers: readonly Uint8Array[]
  /** Whether the message holds more than plain data. */
  special: boolean
}

export interface Channel {
  send(frame: Frame): void
}

export interface ChannelEvents {
  onFrame(frame: Frame): void
  /** The other side sent what no kernel of ours sends. */
  onViolation(reason: string): void
}

/** Listens for the kernel that knows the token and gives the way to it. Anybody else is hung up on. */
export async function listen(
  path: string,
  token: string,
  events: ChannelEvents,
): Promise<{ connected: Promise<Channel>; close(): void }> {
  const { promise: connected, resolve } = Promise.withResolvers<Channel>()
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    let known = false
    socket.on("close", () => {
      sockets.delete(socket)
      if (known) events.onViolation("nothing more")
    })
    // How a kernel ends is seen at its process.
    socket.on("error", () => socket.destroy())
    readFrames(
      socket,
      (frame) => {
        if (known) return events.onFrame(frame)
        if (!isToken(frame.message, token)) return socket.destroy()
        known = true
        socket.unref()
        server.close()
        resolve({ send: (sent) => write(socket, sent) })
      },
      (reason) => {
        socket.destroy()
        if (known) events.onViolation(reason)
      },
    )
  })
  await new Promise<void>((listening, failed) => {
    server.once("error", failed)
    // What waits for the kernel keeps the program alive; that it could be spoken to does not.
    server.unref()
    server.listen(path, listening)
  })
  return {
    connected,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

// Length of the rest, whether the JSON holds more than plain data, length of the JSON, number of buffers. The length of
// each buffer follows, then the JSON, then the buffers.
const headLength = 13
// A kernel that runs wild must not take its host along.
const largestFrame = 2 ** 29
// Twenty times that may become of it: an empty object takes three bytes there, and more than sixty here.
const largestJson = 2 ** 26
const mostBuffers = 2 ** 20

function write(socket: Socket, { message, buffers, special }: Frame): void {
  if (socket.destroyed) return
  const json = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(headLength + 4 * buffers.length)
  const size = buffers.reduce((sum, buffer) => sum + buffer.byteLength, json.length + head.length - 4)
  if (size > largestFrame) throw new RangeError(`A value of ${size} bytes is too large to cross at once.`)
  head.writeUInt32LE(size, 0)
  head.writeUInt8(special ? 1 : 0, 4)
  head.writeUInt32LE(json.length, 5)
  head.writeUInt32LE(buffers.length, 9)
  for (const [at, buffer] of buffers.entries()) head.writeUInt32LE(buffer.byteLength, headLength + 4 * at)
  if (json.length < 16_384) socket.write(Buffer.concat([head, json]))
  else for (const part of [head, json]) socket.write(part)
  for (const buffer of buffers) socket.write(buffer)
}

function readFrames(socket: Socket, onFrame: (frame: Frame) => void, onViolation: (reason: string) => void): void {
  let chunks: Buffer[] = []
  let length = 0
  let needed = headLength
  socket.on("data", (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    while (length >= needed && !socket.destroyed) {
      // Joined only when a whole frame is there, so a large one is copied once.
      const data = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)
      chunks = [data]
      const end = 4 + data.readUInt32LE(0)
      if (end > largestFrame || end < headLength) return onViolation("a frame of an impossible size")
      needed = Math.max(end, headLength)
      if (length < needed) return
      const frame = parse(data.subarray(4, end))
      if (!frame) return onViolation("a frame that cannot be read")
      const rest = data.subarray(end)
      chunks = rest.length > 0 ? [rest] : []
      length = rest.length
      needed = headLength
      try {
        onFrame(frame)
      } catch {
        // Thrown here, it would be the end of the host.
        onViolation("a frame that makes no sense")
      }
    }
  })
}

/** A frame behind its length; undefined when its parts do not fit. */
function parse(frame: Buffer): Frame | undefined {
  const start = headLength - 4
  const special = frame.readUInt8(0) === 1
  const length = frame.readUInt32LE(1)
  const count = frame.readUInt32LE(5)
  let at = start + 4 * count + length
  if (at > frame.length || length > largestJson || count > mostBuffers) return undefined
  try {
    const message: unknown = JSON.parse(frame.toString("utf8", at - length, at))
    if (!isRecord(message)) return undefined
    const buffers: Uint8Array[] = []
    for (let index = 0; index < count; index++) {
      const size = frame.readUInt32LE(start + 4 * index)
      if (at + size > frame.length) return undefined
      buffers.push(frame.subarray(at, at + size))
      at += size
    }
    return { message, buffers, special }
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isToken(message: { [key: string]: Json }, token: string): boolean {
  const given = Buffer.from(typeof message.token === "string" ? message.token : "")
  const expected = Buffer.from(token)
  return message.k === "hello" && given.length === expected.length && timingSafeEqual(given, expected)
}
