import { abortReasonText } from "../core/errors.ts"

/** What a cell and its functions are told when a signal stops them: with the reason, where the abort was given one. */
export function abortedCellMessage(reason: unknown): string {
  const text = abortReasonText(reason)
  return text === undefined ? "The cell was aborted." : `The cell was aborted: ${text.replace(/\.$/, "")}.`
}
