// Converts tool names of MCP servers to names that models and cells accept.
import { createHash } from "node:crypto"

const maxNameLength = 64

/** Converts a server's tool name, which may be long and contain dots and slashes. Different names stay different. */
export function safeToolName(name: string, prefix: string | undefined, taken: ReadonlySet<string>): string {
  const whole = prefix ? `${prefix}_${name}` : name
  const identifier = whole.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^(?![A-Za-z_])/, "_")
  if (identifier.length <= maxNameLength && !taken.has(identifier)) return identifier
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8)
  return `${identifier.slice(0, maxNameLength - hash.length - 1)}_${hash}`
}

/** Indexes values by identifiers made of their names. */
export function byIdentifier<T extends { name: string }>(values: readonly T[]): Record<string, T> {
  const byName = new Map<string, T>()
  for (const value of values) {
    let identifier = value.name.replaceAll("-", "_")
    while (byName.has(identifier)) identifier += "_"
    byName.set(identifier, value)
  }
  return Object.fromEntries(byName)
}
