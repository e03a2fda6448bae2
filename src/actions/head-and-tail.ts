// Stores a long text and shortens it to its beginning and its end.
import { errorData } from "../core/errors.ts"
import { characterBoundary, wellFormed } from "../core/message.ts"

/** Stores a text that is too long to show. `place` names the place of the stored text and gets the number of characters
 *  shown first. A text that cannot be stored is only shortened: the action that made it was performed. */
export async function storeAndShorten(
  text: string,
  maxChars: number,
  keep: () => Promise<string>,
  place: (keptName: string, shown: number) => string,
): Promise<{ shown: string; keptName?: string }> {
  try {
    const keptName = await keep()
    return { keptName, shown: headAndTail(text, maxChars, (shown) => `is in ${place(keptName, shown)}`) }
  } catch (error) {
    return { shown: headAndTail(text, maxChars, () => notKeptText(error)) }
  }
}

export function notKeptText(error: unknown): string {
  return `could not be kept: ${errorData(error).message}`
}

/** Shows the beginning and the end of a text, and between them how much is left out and where the whole text is. Cuts
 *  at a line end if that loses little. `where` gets the number of characters shown first. */
function headAndTail(text: string, maxChars: number, where: (shown: number) => string): string {
  const tailLength = Math.floor(maxChars / 4)
  const head = wholeLines(wellFormed(text.slice(0, characterBoundary(text, maxChars - tailLength))))
  const tail = wellFormed(text.slice(characterBoundary(text, text.length - tailLength)))
  const left = text.length - head.length - tail.length
  const location = `the whole text ${where(head.length)}`
  return [head, `… ${left} of ${text.length} characters left out; ${location} …`, tail].filter(Boolean).join("\n")
}

function wholeLines(head: string): string {
  const end = head.lastIndexOf("\n")
  return end > head.length / 2 ? head.slice(0, end) : head
}
