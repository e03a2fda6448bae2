// Reads the data of a write, and byte ranges of a read.
import { ConfigError } from "../core/errors.ts"
import { abortError } from "../core/run.ts"
import type { FileData, ReadOptions, StopOptions } from "./workspace.ts"

/** Yields the data of a write in chunks. */
export async function* toChunks(path: string, data: FileData, { signal }: StopOptions): AsyncGenerator<Uint8Array> {
  throwIfAborted(signal)
  if (typeof data === "string") {
    yield encoder.encode(data)
    return
  }
  if (data instanceof Uint8Array) {
    yield data
    return
  }
  if (typeof data?.[Symbol.asyncIterator] !== "function") throw notBytesError(path, data)
  for await (const chunk of data) {
    throwIfAborted(signal)
    if (!(chunk instanceof Uint8Array)) throw notBytesError(path, chunk)
    yield chunk
  }
  throwIfAborted(signal)
}

/** Collects the data of a write in one array. */
export async function collectData(path: string, data: FileData, options: StopOptions): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  // A stream may reuse its buffer, so its chunks are copied.
  const isWhole = typeof data === "string" || data instanceof Uint8Array
  for await (const chunk of toChunks(path, data, options)) chunks.push(isWhole ? chunk : copyBytes(chunk))
  return concat(chunks)
}

/** `slice` of a Buffer would share its memory. */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}

export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks
  if (only && chunks.length === 1) return only
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** Concatenates a stream. If the size is known, no byte is held twice. */
export async function concatStream(pieces: AsyncIterable<Uint8Array>, size: number | undefined): Promise<Uint8Array> {
  if (size === undefined) return new Uint8Array(concat(await Array.fromAsync(pieces)))
  const bytes = new Uint8Array(size)
  let filled = 0
  for await (const piece of pieces) {
    bytes.set(piece, filled)
    filled += piece.length
  }
  return bytes
}

export interface ByteRange {
  start: number
  /** Infinity means the end of the file. */
  end: number
}

export function toByteRange(path: string, { start = 0, end = Infinity }: ReadOptions): ByteRange {
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0
  if (!isCount(start) || (end !== Infinity && !isCount(end))) {
    throw new ConfigError(
      `The range ${start} to ${end} of "${path}" cannot be read. start and end are whole numbers of bytes, from 0 on.`,
    )
  }
  return { start, end: Math.max(start, end) }
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal)
}

function notBytesError(path: string, data: unknown): ConfigError {
  const kind = data === null ? "null" : typeof data
  return new ConfigError(
    `"${path}" cannot be written from ${kind === "object" ? "an object" : kind}. Give a string, a Uint8Array, or an async iterable of Uint8Arrays.`,
  )
}

const encoder = new TextEncoder()
