// The first rows of a table, or items of an array, as comments after its declaration, if its author asks for them.
import { types } from "node:util"
import { oneLine } from "../../core/text/tagged-text.ts"
import type { VariableBinding } from "../bindings.ts"
import { showValue } from "../show/show-value.ts"

/** Returns a line for each row of the requested sample, or an empty text. */
export function sampleLines(name: string, { value, sample = 0, reported }: VariableBinding): string {
  const rows = reported?.sample ?? sampleTexts(value, sample)
  return rows.map((row, index) => `\n// ${name}[${index}]: ${oneLine(row, maxRowLength)}`).join("")
}

/** Returns the texts of the first items of an array. */
export function sampleTexts(value: unknown, count: number): string[] {
  if (types.isProxy(value) || !Array.isArray(value)) return []
  return Array.from({ length: Math.min(count, value.length) }, (_, index) => {
    const item: unknown = Object.getOwnPropertyDescriptor(value, index)?.value
    return showValue(item, maxRowLength).text.replaceAll(/\s*\n\s*/g, " ")
  })
}

const maxRowLength = 500
