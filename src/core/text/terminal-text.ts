// Removes terminal control sequences from text.

// A string sequence ends where another sequence begins, so no character is read twice. Node's own function needs
// quadratic time for text that opens many sequences and closes none.
const terminalSequence =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g

/** Removes sequences that set colours, move the cursor, or set the title, links or clipboard of a terminal. */
export function stripTerminalSequences(text: string): string {
  return text.replace(terminalSequence, "")
}
