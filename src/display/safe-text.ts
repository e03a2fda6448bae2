// Removes everything from a text that could control the terminal.
import { stripTerminalSequences } from "../core/text/terminal-text.ts"

// C0, DEL and C1 characters outside sequences, and marks that reverse the direction of text.
const controlCharacters = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const unfinishedSequence =
  /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]{0,1024}\x1b?$|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}$|\x1b[ -/]{0,8}$|[\r\ud800-\udbff]$/

/** Removes colours, cursor moves, titles, clipboard access and links from a text. Tabs become spaces, and all line ends
 *  `\n`. An unterminated sequence is shown as text. */
export function safeText(text: string): string {
  return stripTerminalSequences(text.replace(/\r\n?|[\u2028\u2029]/g, "\n"))
    .replace(controlCharacters, "")
    .replaceAll("\t", "    ")
    .toWellFormed()
}

/** Does the same for text in pieces: the possible start of a sequence is held until the next piece. */
export function createSafeStream(): { add(text: string): string; end(): string } {
  let pending = ""
  return {
    add(text) {
      const whole = pending + text
      const end = whole.search(unfinishedSequence)
      pending = end === -1 ? "" : whole.slice(end)
      return safeText(end === -1 ? whole : whole.slice(0, end))
    },
    end() {
      const rest = safeText(pending)
      pending = ""
      return rest
    },
  }
}

/** Does the same and joins all lines with spaces. */
export function safeLine(text: string): string {
  return safeText(text)
    .replace(/(?<!\s)\s*\n\s*/g, " ")
    .trim()
}
