import type { Socket } from "node:net"
import { DefaultDeserializer, DefaultSerializer } from "node:v8"
import { isSimple } from "./simple.ts"

/** Two ends that send each other structured clones. Ours and not Node's own: bytes that are no message must be an event
 *  here, and not an exception that nobody can catch. */
export interface Channel {
  /** Throws when the message cannot be cloned, or is longer than `maxSent`. */
  send(message: object): void
  /** Longest message that the other side takes. Any, until it is told. */
  maxSent: number
  /** Whether an open channel keeps the process alive. */
  hold(alive: boolean): void
  close(): void
}

export interface ChannelOptions {
  /** Longest message taken from the other side. */
  maxBytes: number
  onMessage(message: unknown, bytes: Buffer): void
  /** Told once: the other side is gone, or what it sent was no message. */
  onEnd(problem?: string): void
}

export function openChannel(socket: Socket, { maxBytes, onMessage, onEnd }: ChannelOptions): Channel {
  let chunks: Buffer[] = []
  let received = 0
  let wanted = headerBytes
  let ended = false

  const end = (problem?: string) => {
    if (ended) return
    ended = true
    chunks = []
    socket.destroy()
    onEnd(problem)
  }

  const takeFrame = (): Buffer | undefined => {
    if (received < wanted) return undefined
    const all = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    const frameEnd = headerBytes + all.readUInt32LE(0)
    wanted = frameEnd
    if (frameEnd - headerBytes > maxBytes) {
      end(`a message of ${frameEnd - headerBytes} bytes, where ${maxBytes} are allowed`)
      return undefined
    }
    chunks = [all]
    if (received < frameEnd) return undefined
    chunks = received > frameEnd ? [all.subarray(frameEnd)] : []
    received -= frameEnd
    wanted = headerBytes
    return all.subarray(headerBytes, frameEnd)
  }

  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk)
    received += chunk.length
    for (let frame = takeFrame(); frame && !ended; frame = takeFrame()) {
      const message = decode(frame)
      if (!message) return end("bytes that are no message")
      onMessage(message.value, frame)
    }
  })
  socket.on("error", () => end())
  socket.on("close", () => end())

  return {
    maxSent: Number.POSITIVE_INFINITY,
    send(message) {
      const bytes = encode(message)
      const length = bytes.length - headerBytes
      if (length > this.maxSent) throw new RangeError(tooLong(length, this.maxSent))
      if (!ended) socket.write(bytes)
    },
    hold: (alive) => void (alive ? socket.ref() : socket.unref()),
    close: () => end(),
  }
}

const headerBytes = 4

function tooLong(length: number, most: number): string {
  return `${length} bytes cannot cross at once, ${most} can. Take a part of it, or raise \`limits.messageBytes\`.`
}

function encode(message: object): Buffer {
  return isSimple(message) ? encodeSimple(message) : encodeClone(message)
}

function encodeClone(message: object): Buffer {
  const serializer = new DefaultSerializer()
  // Room for the length, so that header and body are one buffer and one write.
  serializer.writeRawBytes(noLength)
  serializer.writeHeader()
  serializer.writeValue(message)
  const bytes = serializer.releaseBuffer()
  bytes.writeUInt32LE(bytes.length - headerBytes, 0)
  return bytes
}

const noLength = Buffer.alloc(headerBytes)

/** Most messages are small and plain, and for those JSON takes a fourth of the time. */
function encodeSimple(message: object): Buffer {
  const text = JSON.stringify(message)
  const bytes = Buffer.allocUnsafe(headerBytes + Buffer.byteLength(text))
  bytes.writeUInt32LE(bytes.length - headerBytes, 0)
  bytes.write(text, headerBytes)
  return bytes
}

function decode(frame: Buffer): { value: unknown } | undefined {
  try {
    if (frame[0] === openingBrace) return { value: JSON.parse(frame.toString()) }
    const deserializer = new DefaultDeserializer(frame)
    deserializer.readHeader()
    return { value: deserializer.readValue() }
  } catch {
    return undefined
  }
}

// A clone begins with another byte.
const openingBrace = 0x7b
