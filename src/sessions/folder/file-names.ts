// Turns the names of sessions and artifacts into file names that every file system can hold, and back.
import { createHash } from "node:crypto"

/** The relative path of a name without its ending: `sessions/7` stays `sessions/7`. Characters that file systems treat
 *  differently (case, dots, accents) become %xx and long parts are cut, so no name leaves the folder or meets another
 *  one. */
export function pathOfName(name: string): string {
  return name.split("/").map(encodeSegment).join("/")
}

/** The name that belongs to such a path; undefined if the path was cut or is not one of ours. */
export function nameOfPath(path: string): string | undefined {
  try {
    const name = path
      .split("/")
      .map((segment) => (segment === "%" ? "" : decodeURIComponent(segment)))
      .join("/")
    return pathOfName(name) === path ? name : undefined
  } catch {
    return undefined
  }
}

function encodeSegment(segment: string): string {
  if (segment === "") return "%"
  const encoded = segment.replace(/[^a-z0-9_-]/gu, percentEncode)
  if (encoded.length <= maxLength) return encoded
  const digest = createHash("sha256").update(segment).digest("hex").slice(0, 32)
  return `${encoded.slice(0, 100).replace(/%.?$/, "")}%%${digest}`
}

function percentEncode(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
}

// File systems allow 255 bytes; the rest is for endings.
const maxLength = 200
