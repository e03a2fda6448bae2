// Reads which rows a question is about, and which rows each of its answers is about.
import { findColumns } from "./find-columns.ts"
import type { Condition } from "./plan.ts"
import type { AskedQuestion } from "./questions.ts"
import type { Column } from "./tables.ts"

/** The conditions of one answer, none, or "unclear" if the question has groups and the name of the answer fits none. */
export type KeyRows = readonly Condition[] | undefined | "unclear"

/** Conditions that hold for the whole question: `Embarked = 'C'`, "a star rating of 5", "years 2000 and beyond",
 *  "male passengers who survived", "in first class". */
export function conditionsOf({ question, constraints }: AskedQuestion, columns: readonly Column[]): Condition[] {
  if (groupColumn({ question, constraints }, columns)) return []
  const text = `${question} ${constraints}`
  return [...equalities(text, columns), ...from(constraints, columns), ...words(question, columns)]
}

function equalities(text: string, columns: readonly Column[]): Condition[] {
  const found: Condition[] = []
  for (const column of columns) {
    const name = escapePattern(column.name).replaceAll("_", "[_ ]")
    const match = new RegExp(`(?:\\b${name}\\s*=\\s*|\\ba ${name} of )['"]?([\\w.]+?)['"]?(?:[\\s).?,]|$)`, "i").exec(
      text,
    )
    const value = column.values.find((each) => String(each) === match?.[1])
    if (value !== undefined) found.push({ column, is: "=", value })
  }
  return found
}

function from(text: string, columns: readonly Column[]): Condition[] {
  const [, name = "", value] = /(\w+?)s? (\d+) and beyond/.exec(text) ?? []
  const [column] = value === undefined ? [] : findColumns(name, columns)
  return column ? [{ column, is: ">=", value: Number(value) }] : []
}

const ordinals = ["zeroth", "first", "second", "third", "fourth", "fifth"]

/** Values of text columns as words of the question, verbs that are the names of columns of 0 and 1, and "first
 *  class". */
function words(question: string, columns: readonly Column[]): Condition[] {
  return columns.flatMap((column): Condition[] => {
    if (column.type === "text") {
      const said = column.values.filter((value) => String(value).length > 2 && hasWord(question, String(value)))
      const [value] = said
      return said.length === 1 && value !== undefined ? [{ column, is: "=", value }] : []
    }
    if (isBinary(column) && new RegExp(`\\b(?:who|that) ${escapePattern(column.name)}\\b`, "i").test(question)) {
      return [{ column, is: "=", value: 1 }]
    }
    const ordinal = ordinals.findIndex((word) => new RegExp(`\\b(?:in|the) ${word}[ -]class\\b`, "i").test(question))
    return ordinal > 0 && /class$/i.test(column.name) ? [{ column, is: "=", value: ordinal }] : []
  })
}

/** For each answer of a question about groups: the group that its name says. */
export function rowsOfKeys(question: AskedQuestion, columns: readonly Column[]): (key: string) => KeyRows {
  const group = groupColumn(question, columns)
  if (!group) return () => (/separately for/i.test(question.constraints) ? "unclear" : undefined)
  return (key) => {
    const value = group.values.find((each) => namesValue(key, each)) ?? (isBinary(group) ? yesOrNo(key) : undefined)
    return value === undefined ? "unclear" : [{ column: group, is: "=", value }]
  }
}

/** The column by which the question groups: "for each passenger class", "Pclass separately", "survived versus". */
function groupColumn(
  question: Pick<AskedQuestion, "question" | "constraints">,
  columns: readonly Column[],
): Column | undefined {
  const text = `${question.question} ${question.constraints}`
  const phrases = [
    /(?:for|in) each ([\w ]+?(?: \(['"]?\w+['"]?\))?)(?: separately|[.,?]|$)/i,
    /'groupby' function on the '(\w+)'/i,
    /who (\w+) versus/i,
  ]
  const few = columns.filter(({ values }) => values.length > 1 && values.length <= 12)
  for (const phrase of phrases) {
    const [column] = findColumns(phrase.exec(text)?.[1] ?? "", few, 1)
    if (column) return column
  }
  return undefined
}

function namesValue(key: string, value: string | number): boolean {
  const parts = key.toLowerCase().split(/_|(?<=[a-z])(?=\d)/)
  if (typeof value === "string") return parts.includes(value.toLowerCase())
  return parts.includes(String(value)) || parts.includes(ordinals[value] ?? "")
}

function yesOrNo(key: string): number {
  return /(?:^|_)not(?:_|$)/.test(key) ? 0 : 1
}

function isBinary({ values }: Column): boolean {
  return values.length === 2 && values.includes(0) && values.includes(1)
}

function hasWord(text: string, word: string): boolean {
  return new RegExp(`\\b${escapePattern(word)}\\b`).test(text)
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
}
