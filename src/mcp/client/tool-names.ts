import { createHash } from "node:crypto"

const maxNameLength = 64

/** A name that models and their services take, for one of a server, which may be longer and have dots and slashes in it. Different
 *  names stay different. */
export function safeToolName(name: string, prefix: string | undefined, taken: ReadonlySet<string>): string {
  const whole = prefix ? `${prefix}_${name}` : name
  const word = whole.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^(?![A-Za-z_])/, "_")
  if (word.length <= maxNameLength && !taken.has(word)) return word
  const mark = createHash("sha256").update(whole).digest("hex").slice(0, 8)
  return `${word.slice(0, maxNameLength - mark.length - 1)}_${mark}`
}

/** The same things by names for variables. */
export function byIdentifier<T extends { name: string }>(things: readonly T[]): Record<string, T> {
  const named = new Map<string, T>()
  for (const thing of things) {
    let word = thing.name.replaceAll("-", "_")
    while (named.has(word)) word += "_"
    named.set(word, thing)
  }
  return Object.fromEntries(named)
}
