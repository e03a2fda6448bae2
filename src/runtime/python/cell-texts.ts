// Bounds the texts of a Python cell that the host keeps.
import { thrownText } from "../../core/errors.ts"

/** Returns the text of an error that no caller receives. */
export function failureText(error: unknown): string {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : thrownText(error)
  return shortened(`${message} (in a callback that the host called and did not await)`)
}

export function shortened(text: string): string {
  return text.length > maxTextLength
    ? `${text.slice(0, maxTextLength)}… ${text.length - maxTextLength} more characters`
    : text
}

const maxTextLength = 100_000
