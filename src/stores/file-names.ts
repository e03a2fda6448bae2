import { createHash } from "node:crypto"

/** The file of a key, without its ending, relative to the store's folder: `sessions/7` is `sessions/7`. What file systems
 *  disagree about (case, dots, accents, length) is written as %xx, so no key leaves the folder or meets another one. */
export function fileOf(key: string): string {
  return key.split("/").map(nameOf).join("/")
}

/** The key of such a file; undefined where only the file itself knows it, or the name is none of ours. */
export function keyOf(file: string): string | undefined {
  try {
    const key = file
      .split("/")
      .map((name) => (name === "%" ? "" : decodeURIComponent(name)))
      .join("/")
    return fileOf(key) === file ? key : undefined
  } catch {
    return undefined
  }
}

/** Whether the name was cut short, so that only the file itself knows its key. */
export function isCut(file: string): boolean {
  return file.includes("%%")
}

function nameOf(segment: string): string {
  if (segment === "") return "%"
  const name = segment.replace(/[^a-z0-9_-]/gu, escaped)
  if (name.length <= longest) return name
  const digest = createHash("sha256").update(segment).digest("hex").slice(0, 32)
  return `${name.slice(0, 100).replace(/%.?$/, "")}%%${digest}`
}

function escaped(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
}

// Of the 255 bytes that file systems allow, less endings.
const longest = 200
