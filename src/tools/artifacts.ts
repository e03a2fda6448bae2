import { AgentError } from "../core/errors.ts"
import type { Runtime } from "../runtime/runtime.ts"

/** Texts of one conversation that are too long to show or were taken out of it, by names such as `_output_1`. A new text is
 *  in memory until the owner of the conversation stores it together with the next checkpoint. Without such an owner it stays
 *  in memory. */
export interface Artifacts extends Pick<Runtime, "keep" | "names" | "retrieve"> {
  /** The last number that was given for each prefix. JSON and part of every checkpoint: numbering continues from it. */
  readonly counts: ArtifactCounts
  /** The text of that name; undefined where there is none. */
  find: ReadArtifact
  /** Adds a text under a given name, in place of an earlier text of that name. */
  put(name: string, text: string): void
  /** The texts that are in memory only. */
  unsaved(): ReadonlyMap<string, string>
  /** Removes texts from memory that are stored now. */
  removeSaved(stored: ReadonlyMap<string, string>): void
  /** Sets how texts are read that are not in memory. */
  setReader(read: ReadArtifact): void
}

export type ArtifactCounts = { [prefix: string]: number }

/** Gives a stored text; undefined where there is none of that name. */
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
