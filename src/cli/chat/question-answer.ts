// Turns the text that a user sends after a question of the agent into the answer: an option's number means the option.
import type { Question } from "../../core/event.ts"

/** Returns the answer, or a problem if the question allows only its options. */
export function answerTo(question: Question, text: string): { answer: string } | { problem: string } {
  const { options = [], multiple = false, custom = true } = question
  const written = text.trim()
  const parts = multiple ? written.split(",").map((part) => part.trim()) : [written]
  const chosen = parts.map((part) => optionOf(part, options))
  if (options.length > 0 && chosen.every((option) => option !== undefined)) return { answer: chosen.join(", ") }
  if (custom || options.length === 0) return { answer: written }
  const numbers = multiple ? `numbers from 1 to ${options.length}, such as 1,2` : `a number from 1 to ${options.length}`
  return { problem: `Answer with ${numbers}.` }
}

function optionOf(text: string, options: readonly string[]): string | undefined {
  if (/^\d+$/.test(text)) return options[Number(text) - 1]
  return options.find((option) => option.toLowerCase() === text.toLowerCase())
}
