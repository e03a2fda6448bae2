import type { Socket } from "node:net"
import { getHeapStatistics } from "node:v8"
import type { Json } from "../../core/json.ts"
import { estimateJsonCost, type JsonCost } from "./codec/json-cost.ts"
import { type Frame, type FrameHandlers, type FrameLink, isRecord, type WireObject } from "./wire.ts"

export interface FrameLimits {
  /** The longest frame accepted from the other side. */
  maxBytes: number
  /** The longest frame that the other side accepts. */
  maxSent: number
  /** How deep the JSON of an accepted frame may be nested. */
  maxDepth: number
  /** The most heap that the JSON of one accepted frame may take. Default: half of this process's heap. */
  maxHeapBytes?: number | undefined
  /** While the other side has left more than this unread, nothing is read from it. Only one end may have a limit: two
   *  ends that wait for each other would wait for ever. Default: no limit. */
  maxUnread?: number | undefined
}

/** Frames over a socket. They are taken in small groups, so that what a group causes to be sent counts as unread before
 *  the next. */
export function createSocketLink(socket: Socket, limits: FrameLimits): FrameLink {
  let handlers: FrameHandlers | undefined
  let ended = false

  const end = (problem?: string) => {
    if (ended) return
    ended = true
    socket.destroy()
    handlers?.onEnd(problem)
  }

  const { maxUnread = Number.POSITIVE_INFINITY } = limits
  let taken = 0
  let waits = false
  let take = (_chunk: Buffer): void => {}

  const wait = () => {
    if (waits) return
    waits = true
    socket.pause()
    setImmediate(goOn)
  }
  const goOn = () => {
    if (ended) return
    if (socket.writableLength > maxUnread) return void socket.once("drain", goOn)
    waits = false
    socket.resume()
    take(Buffer.alloc(0))
  }

  return {
    send(frame) {
      const parts = encodeFrame(frame, limits.maxSent)
      if (ended) return
      socket.cork()
      for (const part of parts) socket.write(part)
      socket.uncork()
      if (socket.writableLength > maxUnread) wait()
    },
    listen(given) {
      handlers = given
      const read = createFrameReader(limits, given.onFrame, () => {
        if (++taken >= framesPerGroup) wait()
        return waits
      })
      take = (chunk) => {
        taken = 0
        const problem = ended ? undefined : read(chunk)
        if (problem !== undefined) end(problem)
      }
      socket.on("data", (chunk: Buffer) => take(chunk))
      socket.on("error", () => end())
      socket.on("close", () => end())
    },
    keepProcessAlive: (alive) => void (alive ? socket.ref() : socket.unref()),
    close: () => end(),
  }
}

const framesPerGroup = 16

/** For the host: a peer that asks and never reads the answers must not fill the host's memory. */
export const maxHostUnreadBytes = 16 * 1024 * 1024

// Length of the rest, special flag, length of the JSON, number of buffers. The length of each buffer follows, then the
// JSON, then the buffers.
const headLength = 13
const lengthBytes = 4
const maxBuffers = 2 ** 20

/** The bytes of a frame, in the parts to write. */
export function encodeFrame({ message, buffers, special }: Frame, maxSent: number): Uint8Array[] {
  const json = Buffer.from(stringifyWire(message))
  const head = Buffer.allocUnsafe(headLength + 4 * buffers.length)
  const size = buffers.reduce((sum, buffer) => sum + buffer.byteLength, json.length + head.length - 4)
  if (size > maxSent) throw new RangeError(tooLongMessage(size, maxSent))
  head.writeUInt32LE(size, 0)
  head.writeUInt8(special ? 1 : 0, 4)
  head.writeUInt32LE(json.length, 5)
  head.writeUInt32LE(buffers.length, 9)
  for (const [at, buffer] of buffers.entries()) head.writeUInt32LE(buffer.byteLength, headLength + 4 * at)
  return json.length < 16_384 ? [Buffer.concat([head, json]), ...buffers] : [head, json, ...buffers]
}

/** The JSON of a message. Generated code in a child may have given all objects or arrays a `toJSON`, which must not change
 *  what is sent. */
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

/** Takes chunks and calls `onFrame` for each whole frame; returns what was wrong with the bytes, if anything was. When
 *  `rests` answers true after a frame, the frames behind it wait for the next chunk, which may be empty. */
export function createFrameReader(
  limits: FrameLimits,
  onFrame: (frame: Frame) => void,
  rests: () => boolean = () => false,
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
      // Joined only when a whole frame is there, so a large one is copied once.
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
      if (rests()) return undefined
    }
    return undefined
  }
}

// A frame that arrives byte by byte must not take a Buffer of a hundred bytes for each.
const smallChunk = 4096
const fewChunks = 64

/** Appends small chunks to a list by joining those that follow each other. */
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

/** A frame behind its length, or what is wrong with it. */
function parseFrame(bytes: Buffer, limits: FrameLimits): Frame | string {
  const start = headLength - 4
  const length = bytes.readUInt32LE(1)
  const count = bytes.readUInt32LE(5)
  const jsonEnd = start + 4 * count + length
  if (count > maxBuffers || jsonEnd > bytes.length) return "a frame whose parts do not fit"
  const text = bytes.subarray(jsonEnd - length, jsonEnd)
  const { maxHeapBytes = maxMessageHeapBytes() } = limits
  const cost = costOf(text, limits.maxDepth)
  // A message with tagged values is copied when it is decoded.
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

/** Short texts cost little whatever they contain. */
function costOf(text: Uint8Array, maxDepth: number): JsonCost {
  return text.length <= maxDepth ? { heapBytes: 0, depth: 0 } : estimateJsonCost(text)
}

// What a view of a buffer takes.
const bufferBytes = 160

// The message around a value, and the tags of nested Maps and Sets.
const envelopeDepth = 8

/** The heap that one message may take in this process. */
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
