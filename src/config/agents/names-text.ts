// The part of error messages that lists the names that exist.
import { nearestWord } from "../../core/text/nearest-word.ts"

/** The end of a message about an unknown name: the nearest name and all names. */
export function namesText(name: string, names: readonly string[]): string {
  const near = nearestWord(name, names)
  const there = names.length === 0 ? "There are none." : `There are: ${names.toSorted().join(", ")}.`
  return `${near === undefined ? "" : ` Did you mean "${near}"?`} ${there}`
}
