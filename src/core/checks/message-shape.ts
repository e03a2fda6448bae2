// Checks of messages that come from outside: archives, hooks, callers without types.
import { isRecord } from "../object.ts"
import { isBoolean, isListOf, isObjectWith, isString, type ShapeCheck } from "./check-shape.ts"

const partShapes: Record<string, ShapeCheck> = {
  text: isObjectWith({ text: isString }),
  reasoning: isObjectWith({ text: isString }),
  image: isObjectWith({ mediaType: isString, data: isString }),
  summary: isObjectWith({ text: isString, history: isListOf(isString), unread: isListOf(isString) }),
  code: isObjectWith({ id: isString, tag: isString, code: isString, closed: isBoolean }),
  "tool-call": isObjectWith({ id: isString, name: isString, input: (input) => input !== undefined }),
  "code-result": isObjectWith({ id: isString, ok: isBoolean, text: isString }, { kept: isString }),
  "tool-result": isObjectWith({ id: isString, name: isString, ok: isBoolean, text: isString }, { kept: isString }),
}

/** Accepts parts of the given types that have the shape of their type. */
function isPartOfType(types: readonly string[]): ShapeCheck {
  return (value) => {
    if (!isRecord(value)) return false
    const { type } = value
    return typeof type === "string" && types.includes(type) && partShapes[type]?.(value) === true
  }
}

const isPart = isPartOfType(Object.keys(partShapes))
const roles: readonly unknown[] = ["user", "assistant", "result"]

export const isMessage = isObjectWith({ id: isString, role: (role) => roles.includes(role), parts: isListOf(isPart) })
export const isMessageList = isListOf(isMessage)

export const isPromptParts = isListOf(isPartOfType(["text", "image"]))

/** Accepts the parts of a model's answer. */
export const isAnswerParts = isListOf(isPartOfType(["text", "reasoning", "code", "tool-call"]))
