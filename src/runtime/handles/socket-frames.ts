// Sends and receives frames over a socket, with limits on what the other side may send.
import type { Socket } from "node:net"
import { getHeapStatistics } from "node:v8"
import type { Json } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { estimateJsonCost, type JsonCost } from "./codec/json-cost.ts"
import type { Frame, FrameHandlers, FrameLink, WireObject } from "./wire.ts"

export interface FrameLimits {
  /** The largest frame accepted from the other side. */
  maxBytes: number
  /** The largest frame that the other side accepts. */
  maxSentBytes: number
  /** The maximum nesting depth of an accepted frame's JSON. */
  maxDepth: number
  /** How much heap the JSON of one accepted frame may take. Default: half of this process's heap. */
  maxHeapBytes?: number | undefined
  /** While more sent bytes than this are unread, nothing is read from the other side. Only one end may have this limit:
   *  with two, both ends could wait for each other for ever. Default: no limit. */
  maxUnreadBytes?: number | undefined
}

/** Frames are handled in small groups. The answers to one group count as unread before the next group is handled. */
export function createSocketLink(socket: Socket, limits: FrameLimits): FrameLink {
  let handlers: FrameHandlers | undefined
  let ended = false

  const end = (problem?: string) => {
    if (ended) return
    ended = true
    socket.destroy()
    handlers?.onEnd(problem)
  }

  const { maxUnreadBytes = Number.POSITIVE_INFINITY } = limits
  let handledInGroup = 0
  let isWaiting = false
  let handleChunk = (_chunk: Buffer): void => {}

  const pauseReading = () => {
    if (isWaiting) return
    isWaiting = true
    socket.pause()
    setImmediate(resumeReading)
  }
  const resumeReading = () => {
    if (ended) return
    if (socket.writableLength > maxUnreadBytes) return void socket.once("drain", resumeReading)
    isWaiting = false
    socket.resume()
    handleChunk(Buffer.alloc(0))
  }

  return {
    send(frame) {
      const parts = encodeFrame(frame, limits.maxSentBytes)
      if (ended) return
      socket.cork()
      for (const part of parts) socket.write(part)
      socket.uncork()
      if (socket.writableLength > maxUnreadBytes) pauseReading()
    },
    listen(given) {
      handlers = given
      const read = createFrameReader(limits, given.onFrame, () => {
        if (++handledInGroup >= framesPerGroup) pauseReading()
        return isWaiting
      })
      handleChunk = (chunk) => {
        handledInGroup = 0
        const problem = ended ? undefined : read(chunk)
        if (problem !== undefined) end(problem)
      }
      socket.on("data", (chunk: Buffer) => handleChunk(chunk))
      socket.on("error", () => end())
      socket.on("close", () => end())
    },
    keepProcessAlive: (alive) => void (alive ? socket.ref() : socket.unref()),
    close: () => end(),
  }
}

const framesPerGroup = 16

/** The host's limit: a peer that never reads its answers must not fill the host's memory. */
export const maxHostUnreadBytes = 16 * 1024 * 1024

// The head: length of the rest, special flag, length of the JSON, number of buffers. After it come the length of each
// buffer, the JSON and the buffers.
const headLength = 13
const lengthBytes = 4
const maxBuffers = 2 ** 20

/** Returns the bytes of a frame as a list of parts to write. */
export function encodeFrame({ message, buffers, special }: Frame, maxSentBytes: number): Uint8Array[] {
  const json = Buffer.from(stringifyWire(message))
  const head = Buffer.allocUnsafe(headLength + 4 * buffers.length)
  const size = buffers.reduce((sum, buffer) => sum + buffer.byteLength, json.length + head.length - 4)
  if (size > maxSentBytes) throw new RangeError(tooLongMessage(size, maxSentBytes))
  head.writeUInt32LE(size, 0)
  head.writeUInt8(special ? 1 : 0, 4)
  head.writeUInt32LE(json.length, 5)
  head.writeUInt32LE(buffers.length, 9)
  for (const [at, buffer] of buffers.entries()) head.writeUInt32LE(buffer.byteLength, headLength + 4 * at)
  return json.length < 16_384 ? [Buffer.concat([head, json]), ...buffers] : [head, json, ...buffers]
}

/** Returns the JSON of a message. Generated code in a child may add `toJSON` to all objects or arrays; that must not
 *  change the sent message. */
export function stringifyWire(json: Json): string {
  if (!("toJSON" in Object.prototype) && !("toJSON" in Array.prototype)) return JSON.stringify(json)
  if (typeof json !== "object" || json === null) return JSON.stringify(json)
  if (Array.isArray(json)) return `[${json.map(stringifyWire).join(",")}]`
  const members = Object.keys(json).map((key) => `${JSON.stringify(key)}:${stringifyWire(json[key] ?? null)}`)
  return `{${members.join(",")}}`
}

function tooLongMessage(length: number, most: number): string {
  return `${length} bytes cannot cross at once, ${most} can. Take a part of it, or raise \`limits.messageBytes\`.`
}

/** Returns a function that takes chunks, calls `onFrame` for each whole frame and returns a description of
 *  invalid bytes. If `isPaused` returns true after a frame, the following frames wait for the next chunk, which
 *  may be empty. */
export function createFrameReader(
  limits: FrameLimits,
  onFrame: (frame: Frame) => void,
  isPaused: () => boolean = () => false,
): (chunk: Buffer) => string | undefined {
  let chunks: Buffer[] = []
  let length = 0
  let needed = lengthBytes
  const addSmall = createSmallChunkJoiner()
  return (chunk) => {
    if (chunks.length < fewChunks || chunk.length > smallChunk) chunks.push(chunk)
    else addSmall(chunks, chunk)
    length += chunk.length
    while (length >= needed) {
      // Chunks are joined once the whole frame has arrived, so that a large frame is copied once.
      const data = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)
      chunks = [data]
      const end = 4 + data.readUInt32LE(0)
      if (end < headLength) return "a frame of an impossible size"
      if (end - 4 > limits.maxBytes) return `a message of ${end - 4} bytes, where ${limits.maxBytes} are allowed`
      needed = Math.max(end, headLength)
      if (length < needed) return undefined
      const frame = parseFrame(data.subarray(4, end), limits)
      if (typeof frame === "string") return frame
      const rest = data.subarray(end)
      chunks = rest.length > 0 ? [rest] : []
      length = rest.length
      needed = lengthBytes
      try {
        onFrame(frame)
      } catch {
        return "a message that makes no sense"
      }
      if (isPaused()) return undefined
    }
    return undefined
  }
}

// If a frame arrives byte by byte, one Buffer object per byte would take a hundred times its size.
const smallChunk = 4096
const fewChunks = 64

/** Appends small chunks to a list and joins consecutive ones. */
function createSmallChunkJoiner(): (chunks: Buffer[], chunk: Buffer) => void {
  let slab = Buffer.alloc(0)
  let start = 0
  let end = 0
  let joined: Buffer | undefined
  return (chunks, chunk) => {
    if (slab.length - end < chunk.length) {
      slab = Buffer.allocUnsafeSlow(16 * smallChunk)
      start = end = 0
      joined = undefined
    }
    if (joined === undefined || chunks.at(-1) !== joined) start = end
    else chunks.pop()
    end += chunk.copy(slab, end)
    joined = slab.subarray(start, end)
    chunks.push(joined)
  }
}

/** Parses a frame without its length. Returns a description if the frame is invalid. */
function parseFrame(bytes: Buffer, limits: FrameLimits): Frame | string {
  const start = headLength - 4
  const length = bytes.readUInt32LE(1)
  const count = bytes.readUInt32LE(5)
  const jsonEnd = start + 4 * count + length
  if (count > maxBuffers || jsonEnd > bytes.length) return "a frame whose parts do not fit"
  const text = bytes.subarray(jsonEnd - length, jsonEnd)
  const { maxHeapBytes = maxMessageHeapBytes() } = limits
  const cost = costOf(text, limits.maxDepth)
  // Decoding a message with tagged values copies it.
  const copies = bytes[0] === 1 ? 2 : 1
  const left = maxHeapBytes - copies * cost.heapBytes - count * bufferBytes
  if (cost.depth > limits.maxDepth + envelopeDepth) return "a value that is nested too deeply"
  if (left < 0) return "a value with more parts than this process has memory for"
  const buffers: Uint8Array[] = []
  let at = jsonEnd
  for (let index = 0; index < count; index++) {
    const size = bytes.readUInt32LE(start + 4 * index)
    if (at + size > bytes.length) return "a frame whose parts do not fit"
    buffers.push(bytes.subarray(at, at + size))
    at += size
  }
  const message = parseWireObject(text)
  if (!message) return "a frame that is no message"
  return { message, buffers, special: bytes[0] === 1, size: bytes.length, maxHeapBytes: left }
}

/** Short texts are not scanned: they cost little, whatever they contain. */
function costOf(text: Uint8Array, maxDepth: number): JsonCost {
  return text.length <= maxDepth ? { heapBytes: 0, depth: 0 } : estimateJsonCost(text)
}

// The heap that one view of a buffer takes.
const bufferBytes = 160

// The levels of the message around a value, and of the tags of nested Maps and Sets.
const envelopeDepth = 8

/** Returns how much heap one message may take in this process. */
export function maxMessageHeapBytes(): number {
  heapLimit ??= getHeapStatistics().heap_size_limit
  return heapLimit / 2
}

let heapLimit: number | undefined

function parseWireObject(text: Buffer): WireObject | undefined {
  try {
    const message: unknown = JSON.parse(text.toString())
    return isRecord(message) ? (message as WireObject) : undefined
  } catch {
    return undefined
  }
}
