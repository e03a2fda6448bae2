// Stores long results and removed messages of a conversation outside the prompt.
import { AgentError } from "../core/errors.ts"
import type { Runtime } from "../runtime/runtime.ts"

/** Texts of one conversation that are too long to show or were removed from it, by names such as `_output_1`. A new
 *  text stays in memory until the owner of the conversation stores it with the next checkpoint. Without such an
 *  owner it stays in memory. */
export interface Artifacts extends Pick<Runtime, "keep" | "names" | "retrieve"> {
  /** The last number used for each prefix. JSON and part of every checkpoint, so that numbering continues. */
  readonly counts: ArtifactCounts
  /** Returns the text of that name; undefined if there is none. */
  find: ReadArtifact
  /** Adds a text under the given name, replacing an earlier one. */
  put(name: string, text: string): void
  /** The texts that exist only in memory. */
  unsaved(): ReadonlyMap<string, string>
  /** Removes texts from memory that have been stored. */
  removeSaved(stored: ReadonlyMap<string, string>): void
  /** Sets the function that reads texts that are not in memory. */
  setReader(read: ReadArtifact): void
}

export type ArtifactCounts = { [prefix: string]: number }

/** Reads a stored text; undefined if there is none of that name. */
export type ReadArtifact = (name: string) => Promise<string | undefined>

export function createArtifacts(): Artifacts {
  const counts: ArtifactCounts = {}
  const unsaved = new Map<string, string>()
  let read: ReadArtifact = async () => undefined
  const find: ReadArtifact = async (name) => unsaved.get(name) ?? (await read(name))

  return {
    counts,
    async keep(prefix, value) {
      const number = (counts[prefix] ?? 0) + 1
      counts[prefix] = number
      const name = `${prefix}_${number}`
      unsaved.set(name, typeof value === "string" ? value : JSON.stringify(value))
      return name
    },
    names: async () => [],
    async retrieve(name) {
      const text = await find(name)
      if (text !== undefined) return text
      throw new AgentError(`There is no artifact "${name}".`, { code: "not-found" })
    },
    find,
    put: (name, text) => void unsaved.set(name, text),
    unsaved: () => new Map(unsaved),
    removeSaved(stored) {
      for (const [name, text] of stored) if (unsaved.get(name) === text) unsaved.delete(name)
    },
    setReader(reader) {
      read = reader
    },
  }
}
