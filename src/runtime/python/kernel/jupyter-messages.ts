// Encodes, signs and verifies messages of the Jupyter protocol.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto"
import type { Json } from "../../../core/json.ts"
import type { ImagePart } from "../../../core/message.ts"
import { isRecord } from "../../../core/object.ts"

export interface JupyterMessage {
  type: string
  /** The id of the request it belongs to; empty if there is none. */
  parent: string
  content: { [key: string]: Json }
  /** The size of a content that was too large to parse, and is left out. */
  omittedBytes?: number | undefined
}

/** The wire format: a delimiter, a signature, and four parts of JSON. */
export function createMessageCodec(key: string, session: string) {
  const sign = (parts: readonly Buffer[]) => {
    const hmac = createHmac("sha256", key)
    for (const part of parts) hmac.update(part)
    return Buffer.from(hmac.digest("hex"))
  }
  return {
    /** Returns a signed request as frames, and its id. */
    pack(type: string, content: { [key: string]: Json }): { id: string; frames: Buffer[] } {
      const id = randomUUID()
      const date = new Date().toISOString()
      const header = { msg_id: id, username: "karst", session, date, msg_type: type, version: "5.3" }
      const parts = [header, {}, {}, content].map((part) => Buffer.from(JSON.stringify(part)))
      return { id, frames: [delimiter, sign(parts), ...parts] }
    },
    /** Returns a message with a valid signature; undefined for anything else. */
    unpack(frames: readonly Buffer[]): JupyterMessage | undefined {
      const start = frames.findIndex((frame) => frame.equals(delimiter))
      const [signature, ...rest] = frames.slice(start + 1)
      const parts = rest.slice(0, 4)
      if (start < 0 || !signature || parts.length < 4) return undefined
      const expected = sign(parts)
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined
      const [header, parentHeader, , body] = parts
      try {
        const { msg_type: type } = parsePart(header)
        const { msg_id: parent = "" } = parsePart(parentHeader)
        if (typeof type !== "string" || typeof parent !== "string") return undefined
        if (body && body.length > maxContentBytes) return { type, parent, content: {}, omittedBytes: body.length }
        return { type, parent, content: parsePart(body) }
      } catch {
        return undefined
      }
    },
  }
}

const delimiter = Buffer.from("<IDS|MSG>")
// Parsed JSON takes much more memory than its text.
const maxContentBytes = 2 ** 25

function parsePart(part: Buffer | undefined): { [key: string]: Json } {
  const found: Json = JSON.parse(String(part))
  if (!isRecord(found)) throw new TypeError("It is no object.")
  return found
}

/** Returns the representations of a displayed value by media type. */
export function displayedData({ data }: JupyterMessage["content"]): { [mediaType: string]: Json } {
  return isRecord(data) ? data : {}
}

export function findImage(data: { [mediaType: string]: Json }): ImagePart | undefined {
  for (const mediaType of ["image/png", "image/jpeg"]) {
    const found = data[mediaType]
    if (typeof found === "string") return { type: "image", mediaType, data: found.replaceAll("\n", "") }
  }
  return undefined
}
