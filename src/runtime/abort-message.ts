// The error message of a cell, and of the functions it called, when an abort signal stops them.
import { abortReasonText } from "../core/errors.ts"

/** Includes the reason if the abort has one. */
export function abortedCellMessage(reason: unknown): string {
  const text = abortReasonText(reason)
  return text === undefined ? "The cell was aborted." : `The cell was aborted: ${text.replace(/\.$/, "")}.`
}
