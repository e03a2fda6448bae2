import { characterBoundary, wellFormed } from "../core/message.ts"

/** A text that is too long to show: its beginning, what is left out and where the whole is, its end. Cut at line ends
 *  where that loses little, so that the model sees whole lines. `where` may want to know how much of it is shown. */
export function headAndTail(text: string, maxChars: number, where: string | ((shown: number) => string)): string {
  const tailLength = Math.floor(maxChars / 4)
  const head = wholeLines(wellFormed(text.slice(0, characterBoundary(text, maxChars - tailLength))))
  const tail = wellFormed(text.slice(characterBoundary(text, text.length - tailLength)))
  const left = text.length - head.length - tail.length
  const place = typeof where === "string" ? where : where(head.length)
  return [head, `… ${left} of ${text.length} characters left out; ${place} …`, tail].filter(Boolean).join("\n")
}

function wholeLines(head: string): string {
  const end = head.lastIndexOf("\n")
  return end > head.length / 2 ? head.slice(0, end) : head
}
