// Reads the definition of a new column: "a new feature called "FamilySize" by summing the "SibSp" and "Parch" columns".
import { findColumns } from "./find-columns.ts"
import type { Formula, Plan } from "./plan.ts"
import type { AskedQuestion } from "./questions.ts"
import type { Column } from "./tables.ts"

/** The new column that a question defines; undefined if it defines none, or none that these rules read. */
export function deriveFormula({ question, constraints }: AskedQuestion, columns: readonly Column[]): Plan["derived"] {
  if (!definesColumn(question)) return undefined
  const named = /(?:called|named|feature) ["'“](\w+)["'”]/i.exec(question)?.[1]
  const texts = [question, constraints].flatMap((text) => sentencesFrom(text))
  for (const text of texts) {
    const formula = readFormula(text, columns)
    if (formula) return { name: named ?? "new_feature", formula }
  }
  return undefined
}

/** Whether a question defines a new column. */
export function definesColumn(question: string): boolean {
  return /new (?:\w+ )?(?:feature|column|variable)/i.test(question)
}

/** The text from the definition on, without the name of the new column. */
function sentencesFrom(text: string): string[] {
  return text.split(/(?<=[.\n])\s/).map((sentence) => sentence.replace(/(?:called|named) ["'“]\w+["'”]/i, ""))
}

function readFormula(sentence: string, columns: readonly Column[]): Formula | undefined {
  const fraction = /=\s*\((.+?)-(.+?)\)\s*\/\s*(.+)/.exec(sentence)
  if (fraction) {
    const [a, b, c] = [1, 2, 3].map((group) => findColumns(fraction[group] ?? "", columns)[0])
    return a && b && c ? { type: "difference ratio", columns: [a, b, c] } : undefined
  }
  const definition =
    /(?:by|sum of|difference between|ratio of|subtract|logarithm|represents the)\b(.+)/is.exec(sentence)?.[0] ?? ""
  const found = findColumns(definition, columns)
  const [a, b] = found
  if (/logarithm/i.test(sentence)) {
    const [column] = findColumns(sentence, columns)
    return column && { type: "log10", column }
  }
  if (!a || !b) return undefined
  if (/\b(?:sum|summing|adding|sum of|combining|together)\b/i.test(definition)) return { type: "sum", columns: found }
  if (/difference between/i.test(definition)) return { type: "difference", columns: [a, b] }
  if (/ratio of|dividing/i.test(definition)) return { type: "ratio", columns: [a, b] }
  return undefined
}
