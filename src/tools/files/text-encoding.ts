/** How the text of a file is written. What is not valid UTF-8 and has no character of it beyond ASCII is Latin-1, where each
 *  byte is a character: nothing is lost whatever it really is. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1"

export interface TextFormat {
  encoding: Encoding
  /** How many bytes at the start say so. */
  bomBytes: number
}

/** How much of a file is looked at to know how it is written. */
export const sampleBytes = 65_536

/** How a file that begins with these bytes is written; undefined when it is no text. */
export function detectTextFormat(bytes: Uint8Array): TextFormat | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return { encoding: "utf-16le", bomBytes: 2 }
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", bomBytes: 2 }
  if (bytes.includes(0)) return undefined
  const bom = first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0
  return { encoding: bom > 0 || isUtf8(bytes) ? "utf-8" : "latin1", bomBytes: bom }
}

/** What is not valid in the encoding becomes U+FFFD. A byte order mark is a character like any other. */
export function decode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === "latin1") return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
}

/** Undefined when the encoding has no way to write one of the characters. */
export function encode(text: string, encoding: Encoding): Buffer | undefined {
  if (encoding === "utf-8") return Buffer.from(text, "utf8")
  if (encoding === "utf-16le") return Buffer.from(text, "utf16le")
  if (encoding === "utf-16be") return Buffer.from(text, "utf16le").swap16()
  return /[^\u0000-\u00ff]/.test(text) ? undefined : Buffer.from(text, "latin1")
}

export function encodingName({ encoding, bomBytes: bom }: TextFormat): string {
  const names = {
    "utf-8": "UTF-8",
    "utf-16le": "UTF-16 LE",
    "utf-16be": "UTF-16 BE",
    latin1: "not UTF-8, read as Latin-1",
  }
  return `${names[encoding]}${encoding === "utf-8" && bom > 0 ? " with BOM" : ""}`
}

function isUtf8(bytes: Uint8Array): boolean {
  // A character that is cut at the end of the sample is no mistake.
  const text = new TextDecoder("utf-8").decode(bytes, { stream: true })
  return !text.includes("\ufffd") || /[^\u0000-\u007f\ufffd]/.test(text)
}
