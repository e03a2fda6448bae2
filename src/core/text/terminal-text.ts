// The string of a sequence ends where another one begins, so that no character is read twice: Node's own function takes time
// in proportion to the square of a text that opens many and closes none.
const terminalSequence =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g

/** Text without the sequences that paint, move the cursor, or set titles, links and the clipboard of a terminal. */
export function stripTerminalSequences(text: string): string {
  return text.replace(terminalSequence, "")
}
