// Detects, decodes and encodes the text encoding of files.

/** The encoding of a file. Text that is not valid UTF-8, and has no valid multi-byte character, is read as Latin-1:
 *  each byte is a character, so nothing is lost. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1"

export interface TextFormat {
  encoding: Encoding
  /** The length of the byte order mark. */
  bomBytes: number
}

/** How many bytes of a file are read to detect its encoding. */
export const sampleBytes = 65_536

/** Detects the encoding from the first bytes of a file; undefined if it is not text. */
export function detectTextFormat(bytes: Uint8Array): TextFormat | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return { encoding: "utf-16le", bomBytes: 2 }
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", bomBytes: 2 }
  if (bytes.includes(0)) return undefined
  const bomBytes = first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0
  return { encoding: bomBytes > 0 || isUtf8(bytes) ? "utf-8" : "latin1", bomBytes }
}

/** Decodes bytes. Invalid bytes become U+FFFD. A byte order mark is decoded like any other character. */
export function decode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === "latin1") return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
}

/** Encodes a text; undefined if the encoding cannot represent one of the characters. */
export function encode(text: string, encoding: Encoding): Buffer | undefined {
  if (encoding === "utf-8") return Buffer.from(text, "utf8")
  if (encoding === "utf-16le") return Buffer.from(text, "utf16le")
  if (encoding === "utf-16be") return Buffer.from(text, "utf16le").swap16()
  return /[^\u0000-\u00ff]/.test(text) ? undefined : Buffer.from(text, "latin1")
}

export function encodingName({ encoding, bomBytes }: TextFormat): string {
  const names = {
    "utf-8": "UTF-8",
    "utf-16le": "UTF-16 LE",
    "utf-16be": "UTF-16 BE",
    latin1: "not UTF-8, read as Latin-1",
  }
  return `${names[encoding]}${encoding === "utf-8" && bomBytes > 0 ? " with BOM" : ""}`
}

function isUtf8(bytes: Uint8Array): boolean {
  // A character that is cut off at the end of the sample is not an error.
  const text = new TextDecoder("utf-8").decode(bytes, { stream: true })
  return !text.includes("\ufffd") || /[^\u0000-\u007f\ufffd]/.test(text)
}
