// `finish(text)` of cells: the reserved name, and the texts that it accepts as the answer of a run.

/** The function with which a cell ends its run. No binding may have this name. */
export const finishName = "finish"

/** Explains why nothing can be bound to `finish`; completes `"finish" …`. */
export const finishNameProblem = "is the function with which a cell ends its run; choose another name"

/** How long an answer may be. */
const maxFinishChars = 1_000_000

/** Explains why a text cannot be the answer of a run; undefined if it can. */
export function finishTextProblem(text: string): string | undefined {
  if (text.trim() === "") return "The text is empty."
  if (text.length <= maxFinishChars) return undefined
  const [length, most] = [text.length, maxFinishChars].map((count) => count.toLocaleString("en"))
  return `The text has ${length} characters; at most ${most} are possible.`
}

/** Returns the text that a child or a kernel reported, if it can be an answer. */
export function reportedFinishText(reported: unknown): string | undefined {
  return typeof reported === "string" && finishTextProblem(reported) === undefined ? reported : undefined
}
