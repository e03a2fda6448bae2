// Finds the columns of a table that a text mentions. The rules know nothing about a particular table.
import type { Column } from "./tables.ts"

/** The columns that the text mentions, each once, in the order of their first mention. Exact names count first; if
 *  there are fewer than `atLeast`, abbreviated names count too: `max_storm_cat` for "maximum storm category". */
export function findColumns(text: string, columns: readonly Column[], atLeast = 1): Column[] {
  const words = wordsOf(text)
  const found = new Map<Column, number>()
  const named = columns.flatMap((column) => aliases(column.name).map((alias) => ({ column, alias })))
  for (const { column, alias } of named.toSorted((a, b) => b.alias.length - a.alias.length)) {
    const start = takeWords(
      words,
      (at) => alias.every((word, index) => isWord(words[at + index], word)) && alias.length,
    )
    if (start !== -1) found.set(column, Math.min(start, found.get(column) ?? Infinity))
  }
  if (found.size < atLeast) {
    for (const column of columns.filter((each) => !found.has(each))) {
      const start = takeWords(words, (at) => abbreviates(column.name, words, at))
      if (start !== -1) found.set(column, start)
    }
  }
  return [...found].sort(([, a], [, b]) => a - b).map(([column]) => column)
}

interface Word {
  text: string
  original: string
  taken: boolean
}

const fillers = new Set(["of", "in", "the", "a", "an", "s"])

function wordsOf(text: string): Word[] {
  const parts = text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? []
  return parts
    .map((original) => ({ original, text: singular(original.toLowerCase()), taken: false }))
    .filter(({ original, text: word }) => !fillers.has(word) || /^[A-Z]$/.test(original))
}

/** Marks the words of all places where something matches, and returns the first of them, or -1. */
function takeWords(words: readonly Word[], match: (at: number) => number | false): number {
  let first = -1
  for (const at of words.keys()) {
    const length = match(at)
    if (!length) continue
    for (const word of words.slice(at, at + length)) word.taken = true
    if (first === -1) first = at
  }
  return first
}

/** The word sequences that stand for a column. */
function aliases(name: string): string[][] {
  const inBrackets = /\(([^)]+)\)/.exec(name)?.[1]
  const withoutUnit = /^(.+?)[_ ]in[_ ]/.exec(name)?.[1]
  const beforeBrackets = /^(.+?)\s*\(/.exec(name)?.[1]
  return [name, inBrackets, beforeBrackets, withoutUnit]
    .flatMap((text) => {
      if (text === undefined) return []
      const words = wordsOf(text).map((word) => (word.original.length === 1 ? word.original : word.text))
      if (words[0] === "no" || words[0] === "number") return [words, ["number", ...words.slice(1)], words.slice(1)]
      if (words.at(-1) === "count") return [words, ["number", ...words.slice(0, -1)]]
      return [words]
    })
    .filter((words) => words.length > 0)
}

/** A column of one letter is meant only by that very letter. */
function isWord(word: Word | undefined, alias: string): boolean {
  if (!word || word.taken) return false
  return alias.length === 1 ? word.original === alias : word.text === alias
}

/** The number of words that a name abbreviates: word by word, joined, or without the first letter of the name. */
function abbreviates(name: string, words: readonly Word[], at: number): number | false {
  const parts = wordsOf(name).map(({ text }) => text)
  const following = words.slice(at, at + 4)
  if (following[0]?.taken !== false || parts.join("").length < 3) return false
  const each = parts.every((part, index) => {
    const word = following[index]
    return word !== undefined && !word.taken && part.length >= 3 && word.text.startsWith(part)
  })
  if (each) return parts.length
  const [only = ""] = parts.length === 1 ? parts : []
  if (only.length > 4 && only.slice(1) === following[0].text) return 1
  for (let count = 2; count <= following.length; count++) {
    const joined = following
      .slice(0, count)
      .map(({ text }) => text)
      .join("")
    const before = following
      .slice(0, count - 1)
      .map(({ text }) => text)
      .join("")
    if (only.length >= 6 && joined.startsWith(only) && before.length < only.length) return count
  }
  return false
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word
}
