// Labels the results of calls of one tool in the same answer with their arguments, so that the model can tell them
// apart.
import type { Json } from "../core/json.ts"
import type { ToolCallPart } from "../core/message.ts"
import { oneLine } from "../core/text/tagged-text.ts"

/** Returns the name and a short text of the arguments for each call whose tool is called more than once, by the id of
 *  the call. Calls without arguments have no label. */
export function labelRepeatedCalls(calls: readonly ToolCallPart[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>()
  for (const { id, name, input } of calls) {
    const members = membersText(input)
    const isRepeated = calls.some((other) => other.id !== id && other.name === name)
    if (isRepeated && members !== "") labels.set(id, oneLine(`${name} ${members}`, maxLabelChars))
  }
  return labels
}

function membersText(input: Json): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return ""
  return Object.entries(input)
    .map(([key, value]) => `${key}: ${shortJson(value)}`)
    .join(", ")
}

function shortJson(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > maxValueChars ? `${text.slice(0, maxValueChars).toWellFormed()}…` : text
}

const maxLabelChars = 100
const maxValueChars = 40
