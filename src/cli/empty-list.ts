// The message of a command whose list is empty: what is empty, where it looked, and how to create the first entry.
import { safeLine } from "../display/safe-text.ts"
import { printNotice } from "./print-text.ts"

export interface EmptyList {
  /** Plural, such as "sessions". */
  what: string
  where: string
  /** A sentence. */
  cure: string
  /** The options that chose entries, by name. */
  filters?: Readonly<Record<string, string | undefined>> | undefined
}

/** With filters, says that no entry matches them. */
export function emptyListText({ what, where, cure, filters = {} }: EmptyList): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (given.length === 0) return safeLine(`There are no ${what} in ${where}. ${cure}`)
  const options = given.map(([name, value]) => `--${name} ${value}`).join(" ")
  return safeLine(`None of the ${what} in ${where} matches ${options}. Leave it out to list all.`)
}

export function printEmptyList(list: EmptyList): void {
  printNotice(emptyListText(list))
}
