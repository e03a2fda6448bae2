// Stores values that are removed from the conversation under fresh names in the runtime.
import { rejectOnAbort } from "../core/abort.ts"
import type { ImagePart } from "../core/message.ts"
import { oneLine } from "../core/text/tagged-text.ts"
import type { MemoryServices } from "../memory.ts"

/** Matches the names of stored values. */
export const keptNamePattern = /\b_(?:output(?:_p\d+)?|history|image)_\d+\b/g

type KeptPrefix = "_output" | `_output_p${number}` | "_history" | "_image"

/** The name prefix of a long result. For parallel calls it has the position, so that their order of ending is
 *  irrelevant. */
export function outputPrefix(position: number): KeptPrefix {
  return position === 0 ? "_output" : `_output_p${position + 1}`
}

/** Stores a value under a fresh name that the conversation does not mention. Rejects when the signal fires. */
export async function keepValue(
  prefix: KeptPrefix,
  value: unknown,
  services: Pick<MemoryServices, "valueStore" | "reservedNames"> & Partial<Pick<MemoryServices, "signal">>,
): Promise<string> {
  const { valueStore, reservedNames, signal } = services
  for (;;) {
    const keeping = valueStore.keep(prefix, value)
    const name = await (signal ? rejectOnAbort(keeping, signal) : keeping)
    if (!reservedNames.has(name)) return name
  }
}

/** Stores images. Returns the texts that replace them. */
export async function keepImages(images: readonly ImagePart[], services: MemoryServices): Promise<string[]> {
  const words: string[] = []
  for (const { mediaType, data } of images) {
    const name = await keepValue("_image", { mediaType, data }, services)
    words.push(`[an image, ${oneLine(mediaType, 100)}, in the ${services.resultStorage} ${name}]`)
  }
  return words
}

/** Joins names, with ranges for consecutive numbers. */
export function nameRanges(names: readonly string[]): string {
  const ranges: { prefix: string; from: number; to: number }[] = []
  for (const name of names) {
    const [, prefix = name, digits = ""] = /^(.*_)(\d+)$/.exec(name) ?? []
    const last = ranges.at(-1)
    if (digits && last?.prefix === prefix && last.to === Number(digits) - 1) last.to++
    else ranges.push({ prefix, from: Number(digits), to: Number(digits) })
  }
  return ranges
    .map(({ prefix, from, to }) => (from === to ? `${prefix}${from}` : `${prefix}${from} to ${prefix}${to}`))
    .join(", ")
}
