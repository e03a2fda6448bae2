// Session handles: texts by which a session can be resumed.
import { checkName } from "../core/checks/check-name.ts"
import { ConfigError } from "../core/errors.ts"

/** The contents of a session handle. */
export interface SessionHandleParts {
  id: string
  /** The folder of its archive. */
  folder?: string | undefined
  /** For a session with a coding CLI: the CLI, the key by which the CLI resumes it, and its working folder. */
  provider?: string | undefined
  key?: string | undefined
  cwd?: string | undefined
}

/** The handle of a session: its id and the folder of its archive. It never names a store, so it holds no
 *  credentials. */
export function sessionHandle(id: string, folder?: string): string {
  return `karst:1:${id.replaceAll(/[%@]/g, encodeURIComponent)}${folder === undefined ? "" : `@${folder}`}`
}

/** The handle of a session with a coding CLI, which can continue without an archive. */
export function cliSessionHandle(parts: SessionHandleParts): string {
  return `karst:2:${Buffer.from(JSON.stringify(parts)).toString("base64url")}`
}

/** Returns the id if a caller can give it to a session. Throws a `ConfigError` otherwise. */
export function checkSessionId(id: string): string {
  checkName("The id of a session", id, { segment: true })
  if (!handlePrefix.test(id)) return id
  throw new ConfigError(`session: "${id}" is a handle. Pass it as \`resume\`; \`id\` is a name of your own.`)
}

/** Parses a handle. Any other text is the id of a session. */
export function parseSessionHandle(text: string): SessionHandleParts {
  const version = handlePrefix.exec(text)?.[1]
  if (version === undefined) return { id: text }
  const body = text.replace(handlePrefix, "")
  if (version !== "1" && version !== "2") {
    throw new ConfigError(
      `The handle "${text}" is of version ${version}, and this Karst knows versions 1 and 2. Update karst.`,
    )
  }
  const parts = version === "1" ? parsePlain(body) : parseEncoded(body)
  if (!parts) throw new ConfigError(`The handle "${text}" names no session. Use session.handle as it was given.`)
  return parts
}

const handlePrefix = /^karst:(\d+):/

function parsePlain(body: string): SessionHandleParts | undefined {
  const [, id, folder] = /^([^@]*)(?:@(.*))?$/s.exec(body) ?? []
  return id ? { id: id.replaceAll(/%25|%40/g, decodeURIComponent), folder } : undefined
}

function parseEncoded(body: string): SessionHandleParts | undefined {
  try {
    const read: unknown = JSON.parse(Buffer.from(body, "base64url").toString())
    if (typeof read !== "object" || read === null || !("id" in read)) return undefined
    const texts = Object.entries(read).filter(([name, value]) => partNames.includes(name) && typeof value === "string")
    // The filter left only texts.
    const parts = Object.fromEntries(texts) as Partial<SessionHandleParts>
    return parts.id ? { ...parts, id: parts.id } : undefined
  } catch {
    return undefined
  }
}

const partNames = ["id", "folder", "provider", "key", "cwd"]
