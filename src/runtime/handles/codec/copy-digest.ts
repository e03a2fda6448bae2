import { createHash } from "node:crypto"
import { types } from "node:util"
import { isPeerObject } from "../peer-objects.ts"
import { stringifyWire } from "../socket-frames.ts"
import type { EncodeReferences, WireCodec, WireObject } from "../wire.ts"

// The host and its peers compare what a field holds with what a copy of it held when it was read: by a digest of the text
// and the buffers that crossed. Objects that stay where they are count as equal: only data is compared.

/** The digest of a value as it crossed. */
export function digestOfWire(text: string, buffers: readonly Uint8Array[]): string {
  const hash = createHash("sha256").update(text.replace(handlePattern, '{"$":"$1"}'))
  for (const buffer of buffers) hash.update(`${buffer.byteLength}:`).update(buffer)
  return hash.digest("base64url")
}

/** The digest of a value as it would cross now; undefined for a value that is not copied or cannot cross. */
export function currentDigest(value: unknown, codec: WireCodec): string | undefined {
  if (typeof value !== "object" || value === null || types.isPromise(value)) return undefined
  try {
    const { json, buffers } = codec.encode(value, "the copy", references)
    return digestOfWire(stringifyWire(json), buffers)
  } catch {
    return undefined
  }
}

// A quote inside a text is escaped, so that the text of a string never looks like this.
const handlePattern = /\{"\$":"([hp])","id":\d+(?:,"s":\d+,"b":"(?:[^"\\]|\\.)*")?\}/g

const references: EncodeReferences = {
  isHandle: isPeerObject,
  reference: (value): WireObject => ({ $: isPeerObject(value) ? "p" : "h" }),
}
