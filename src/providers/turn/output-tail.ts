// Keeps the last bytes of a stream.
import { StringDecoder } from "node:string_decoder"

export function createOutputTail(maxBytes: number) {
  let chunks: Uint8Array[] = []
  let size = 0
  let dropped = 0
  return {
    add(chunk: Uint8Array): void {
      chunks.push(chunk)
      size += chunk.length
      // Cutting copies the bytes, so it is not done for every chunk.
      if (size > 2 * maxBytes) cut()
    },
    /** The last bytes as text; if bytes were dropped, the first line says how many. */
    text(): string {
      if (size > maxBytes) cut()
      const text = new StringDecoder("utf8").end(Buffer.concat(chunks))
      return dropped === 0 ? text : `[${dropped} bytes before this were dropped]\n${text}`
    },
  }

  function cut(): void {
    const all = Buffer.concat(chunks)
    dropped += all.length - maxBytes
    chunks = [all.subarray(all.length - maxBytes)]
    size = maxBytes
  }
}
