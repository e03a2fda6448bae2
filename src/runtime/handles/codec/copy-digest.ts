// Digests of copied values. The host compares the digest of a copy when it was read with the digest of the field now.
// Handles in the value count as equal: only data is compared.
import { createHash } from "node:crypto"
import { types } from "node:util"
import { attempt } from "../../../core/attempt.ts"
import { isPeerObject } from "../peer-objects.ts"
import { stringifyWire } from "../socket-frames.ts"
import type { EncodeReferences, WireCodec, WireObject } from "../wire.ts"

/** Returns the digest of an encoded value. */
export function digestOfWire(text: string, buffers: readonly Uint8Array[]): string {
  const hash = createHash("sha256").update(text.replace(handlePattern, '{"$":"$1"}'))
  for (const buffer of buffers) hash.update(`${buffer.byteLength}:`).update(buffer)
  return hash.digest("base64url")
}

/** Encodes a value and returns its digest. Returns undefined for a value that is not copied or cannot be encoded. */
export function currentDigest(value: unknown, codec: WireCodec): string | undefined {
  if (typeof value !== "object" || value === null || types.isPromise(value)) return undefined
  return attempt(() => {
    const { json, buffers } = codec.encode(value, "the copy", references)
    return digestOfWire(stringifyWire(json), buffers)
  })
}

// Quotes inside JSON strings are escaped, so that no string value matches this pattern.
const handlePattern = /\{"\$":"([hp])","id":\d+(?:,"s":\d+,"b":"(?:[^"\\]|\\.)*")?\}/g

const references: EncodeReferences = {
  isHandle: isPeerObject,
  encodeReference: (value): WireObject => ({ $: isPeerObject(value) ? "p" : "h" }),
}
