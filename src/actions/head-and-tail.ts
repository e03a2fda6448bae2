// Stores long texts and values, and shortens a text to its beginning and its end.
import { errorData } from "../core/errors.ts"
import { characterBoundary, wellFormed } from "../core/message.ts"
import { isKeptIn } from "../core/text/kept-text.ts"

/** Says where a value is stored, or why it is not. A value that cannot be stored is no failure of the action that made
 *  it. */
export async function tryToKeep(
  keeping: Promise<string>,
  storage: "variable" | "artifact",
): Promise<{ keptName?: string; where: string }> {
  try {
    const keptName = await keeping
    return { keptName, where: isKeptIn(storage, keptName) }
  } catch (error) {
    return { where: `could not be kept: ${errorData(error).message}` }
  }
}

/** Shows the beginning and the end of a text, and between them how much is left out and where the whole text is. Cuts
 *  at a line end if that loses little. A function as `where` gets the number of characters shown first. */
export function headAndTail(text: string, maxChars: number, where: string | ((shown: number) => string)): string {
  const tailLength = Math.floor(maxChars / 4)
  const head = wholeLines(wellFormed(text.slice(0, characterBoundary(text, maxChars - tailLength))))
  const tail = wellFormed(text.slice(characterBoundary(text, text.length - tailLength)))
  const left = text.length - head.length - tail.length
  const location = typeof where === "string" ? where : where(head.length)
  return [head, `… ${left} of ${text.length} characters left out; ${location} …`, tail].filter(Boolean).join("\n")
}

function wholeLines(head: string): string {
  const end = head.lastIndexOf("\n")
  return end > head.length / 2 ? head.slice(0, end) : head
}
