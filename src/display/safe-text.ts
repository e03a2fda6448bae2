import { stripTerminalSequences } from "../core/text/terminal-text.ts"

// What is left of C0, DEL and C1 after the sequences, and the marks that let text run backwards over other text.
const controlCharacters = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const unfinishedSequence =
  /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]{0,1024}\x1b?$|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}$|\x1b[ -/]{0,8}$|[\r\ud800-\udbff]$/

/** Text that others wrote, made harmless for a terminal: no colours, cursor moves, titles, clipboard or links; tabs are
 *  spaces and every line end is `\n`. A sequence that never ends is shown, not hidden. */
export function safeText(text: string): string {
  return stripTerminalSequences(text.replace(/\r\n?|[\u2028\u2029]/g, "\n"))
    .replace(controlCharacters, "")
    .replaceAll("\t", "    ")
    .toWellFormed()
}

/** The same for text that comes in pieces: what may be the start of a sequence is held until the next piece. */
export function createSafeStream(): { add(text: string): string; end(): string } {
  let held = ""
  return {
    add(text) {
      const whole = held + text
      const cut = whole.search(unfinishedSequence)
      held = cut === -1 ? "" : whole.slice(cut)
      return safeText(cut === -1 ? whole : whole.slice(0, cut))
    },
    end() {
      const rest = safeText(held)
      held = ""
      return rest
    },
  }
}

/** One line of it: line ends become spaces. */
export function safeLine(text: string): string {
  return safeText(text)
    .replace(/(?<!\s)\s*\n\s*/g, " ")
    .trim()
}
