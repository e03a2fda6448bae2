// The words that say where a stored text or value is. The model reads them, and memory recognises them later.

/** Ends a sentence that begins with what is stored: "the whole text is in the variable _output_1". */
export function isKeptIn(storage: "variable" | "artifact", name: string): string {
  return `is in the ${storage} ${name}`
}
