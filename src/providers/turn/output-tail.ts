import { StringDecoder } from "node:string_decoder"

/** Keeps the end of a stream of bytes, and how much came before it. */
export interface OutputTail {
  add(chunk: Uint8Array): void
  /** What was kept; where something was dropped, the first line says how much. */
  text(): string
}

export function createOutputTail(mostBytes: number): OutputTail {
  let kept: Uint8Array[] = []
  let size = 0
  let dropped = 0
  return {
    add(chunk) {
      kept.push(chunk)
      size += chunk.length
      // Cut now and then, and not at every chunk.
      if (size > 2 * mostBytes) cut()
    },
    text() {
      if (size > mostBytes) cut()
      const text = new StringDecoder("utf8").end(Buffer.concat(kept))
      return dropped === 0 ? text : `[${dropped} bytes before this were dropped]\n${text}`
    },
  }

  function cut(): void {
    const all = Buffer.concat(kept)
    dropped += all.length - mostBytes
    kept = [all.subarray(all.length - mostBytes)]
    size = mostBytes
  }
}
