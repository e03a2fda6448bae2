import { type Check, isFlag, isObject, isText, listOf, objectWith } from "./check-shape.ts"

// Checks of messages that come from outside: archives, hooks, callers without types.

const partShapes: Record<string, Check> = {
  text: objectWith({ text: isText }),
  reasoning: objectWith({ text: isText }),
  image: objectWith({ mediaType: isText, data: isText }),
  summary: objectWith({ text: isText, history: listOf(isText), unread: listOf(isText) }),
  code: objectWith({ id: isText, tag: isText, code: isText, closed: isFlag }),
  "tool-call": objectWith({ id: isText, name: isText, input: (input) => input !== undefined }),
  "code-result": objectWith({ id: isText, ok: isFlag, text: isText }, { kept: isText }),
  "tool-result": objectWith({ id: isText, name: isText, ok: isFlag, text: isText }, { kept: isText }),
}

/** Whether a value is a part of one of these types, and of the shape of that type. */
function isPartOf(types: readonly string[]): Check {
  return (value) => {
    if (!isObject(value)) return false
    const { type } = value
    return typeof type === "string" && types.includes(type) && partShapes[type]?.(value) === true
  }
}

const isPart = isPartOf(Object.keys(partShapes))
const roles: readonly unknown[] = ["user", "assistant", "result"]

export const isMessage = objectWith({ id: isText, role: (role) => roles.includes(role), parts: listOf(isPart) })
export const isMessages = listOf(isMessage)

/** The parts of a prompt: texts and images. */
export const isPromptParts = listOf(isPartOf(["text", "image"]))

/** The parts of an answer of the model. */
export const isAnswerParts = listOf(isPartOf(["text", "reasoning", "code", "tool-call"]))
