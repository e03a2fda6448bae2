// Prints text for people. Names and messages come from files, folders and servers, so control
// characters are removed.
import { safeText } from "../display/safe-text.ts"

/** Writes a line, or several, to standard output. */
export function printLine(text: string): void {
  process.stdout.write(`${safeText(text)}\n`)
}

/** Writes a line to standard error, without `karst:` before it. */
export function printToErrors(text: string): void {
  process.stderr.write(`${safeText(text)}\n`)
}

/** Writes `karst: …` to standard error. */
export function printNotice(text: string): void {
  printToErrors(`karst: ${text}`)
}
