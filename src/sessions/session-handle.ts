import { ConfigError } from "../core/errors.ts"

/** What a handle says of a session. */
export interface SessionHandleParts {
  id: string
  /** The folder it is archived in. */
  folder?: string | undefined
  /** Of a session with a coding CLI: the CLI, what that resumes it by, and the folder it works in. */
  provider?: string | undefined
  key?: string | undefined
  cwd?: string | undefined
}

/** A string that finds a session again: its id, and the folder it is archived in. A store is never named, so that no
 *  credentials travel. */
export function sessionHandle(id: string, folder?: string): string {
  return `karst:1:${id}${folder === undefined ? "" : `@${folder}`}`
}

/** The same of a session with a coding CLI, which can go on without an archive. */
export function cliSessionHandle(parts: SessionHandleParts): string {
  return `karst:2:${Buffer.from(JSON.stringify(parts)).toString("base64url")}`
}

/** What a handle says; anything else is the bare id of a session. */
export function parseSessionHandle(text: string): SessionHandleParts {
  const [, version, said = ""] = /^karst:(\d+):(.*)$/s.exec(text) ?? []
  if (version === undefined) return { id: text }
  if (version !== "1" && version !== "2") {
    throw new ConfigError(
      `The handle "${text}" is of version ${version}, and this Karst knows versions 1 and 2. Update karst.`,
    )
  }
  const parts = version === "1" ? parsePlain(said) : parseEncoded(said)
  if (!parts) throw new ConfigError(`The handle "${text}" names no session. Use session.handle as it was given.`)
  return parts
}

function parsePlain(said: string): SessionHandleParts | undefined {
  const [, id, folder] = /^([^@]*)(?:@(.*))?$/s.exec(said) ?? []
  return id ? { id, folder } : undefined
}

function parseEncoded(said: string): SessionHandleParts | undefined {
  try {
    const read: unknown = JSON.parse(Buffer.from(said, "base64url").toString())
    if (typeof read !== "object" || read === null || !("id" in read)) return undefined
    const texts = Object.entries(read).filter(([name, value]) => partNames.includes(name) && typeof value === "string")
    // Each is a text by now.
    const parts = Object.fromEntries(texts) as Partial<SessionHandleParts>
    return parts.id ? { ...parts, id: parts.id } : undefined
  } catch {
    return undefined
  }
}

const partNames = ["id", "folder", "provider", "key", "cwd"]
