// The first rows of a table, or items of an array, as comments after its declaration, if its author asks for them.
import { types } from "node:util"
import { oneLine } from "../../core/text/tagged-text.ts"
import type { VariableBinding } from "../bindings.ts"
import { showValue } from "../show/show-value.ts"
import { isPlainRow } from "./inspect-value.ts"

/** A variable whose value only a child has, with what the child reported about it: a comment and the sample. */
export interface ReportedVariable extends VariableBinding {
  readonly reported: { readonly note?: string | undefined; readonly sample: readonly string[] }
}

export function reportedVariable(binding: VariableBinding, reported: ReportedVariable["reported"]): ReportedVariable {
  return { ...binding, reported }
}

/** Returns true for an array whose first item is a record. */
export function isTable(value: unknown): value is unknown[] {
  if (types.isProxy(value) || !Array.isArray(value)) return false
  return isPlainRow(Object.getOwnPropertyDescriptor(value, 0)?.value)
}

export function isReported(binding: VariableBinding): binding is ReportedVariable {
  return "reported" in binding
}

/** Returns a line for each row of the requested sample, or an empty text. */
export function sampleLines(name: string, binding: VariableBinding): string {
  const { value, sample = 0 } = binding
  const rows = isReported(binding) ? binding.reported.sample : sampleTexts(value, sample)
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
