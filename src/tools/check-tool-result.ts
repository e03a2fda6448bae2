// Validates the results that tools and hooks return.
import { isBoolean, isListOf, isObjectWith, isString } from "../core/checks/check-shape.ts"
import type { ImagePart } from "../core/message.ts"
import { isRecord } from "../core/object.ts"
import type { Directive, ToolResult } from "./tool.ts"

/** A tool or hook returned an object that is not a valid `ToolResult`. */
export class InvalidResult extends TypeError {}

/** Reads each field once and copies it, so that the tool cannot change it later. Throws `InvalidResult` with the
 *  name of the wrong field. */
export function checkResultFields(given: ToolResult): Omit<ToolResult, symbol> {
  const unknown = Object.keys(given).find((name) => !resultNames.includes(name))
  if (unknown !== undefined) {
    throw new InvalidResult(`unknown field \`${unknown}\`. The fields are: ${resultNames.join(", ")}`)
  }
  const { text, ok, code, images, value, directive }: Record<string, unknown> = { ...given }
  if (!isString(text)) throw wrongField("text", "a string", text)
  if (!isBoolean(ok)) throw wrongField("ok", "true or false", ok)
  if (code !== undefined && !isNonEmptyText(code)) throw wrongField("code", "a string that is not empty", code)
  if (images !== undefined && !areImages(images)) {
    throw wrongField("images", 'a list of { type: "image", mediaType, data }', images)
  }
  return {
    text,
    ok,
    ...(code !== undefined && { code }),
    ...(images !== undefined && { images: images.map(({ mediaType, data }) => ({ type: "image", mediaType, data })) }),
    ...(value !== undefined && { value }),
    ...(directive !== undefined && { directive: checkDirectiveFields(directive) }),
  }
}

const resultNames = ["text", "ok", "code", "images", "value", "directive"]

function checkDirectiveFields(given: unknown): Directive {
  if (!isRecord(given)) throw wrongField("directive", "an object with a `kind`", given)
  const { kind, message, files, handedTo, question, options, multiple, custom } = given
  switch (kind) {
    case "continue":
      return { kind }
    case "finish":
      if (!isString(message)) throw wrongField("directive.message", "a string", message)
      if (files !== undefined && !areTexts(files)) throw wrongField("directive.files", "a list of strings", files)
      if (handedTo !== undefined && !isString(handedTo)) throw wrongField("directive.handedTo", "a string", handedTo)
      return { kind, message, ...(files && { files: [...files] }), ...(handedTo !== undefined && { handedTo }) }
    case "ask":
      if (!isNonEmptyText(question)) throw wrongField("directive.question", "a text that is not empty", question)
      if (options !== undefined && !areTexts(options)) {
        throw wrongField("directive.options", "a list of strings", options)
      }
      for (const [name, flag] of Object.entries({ multiple, custom })) {
        if (flag !== undefined && !isBoolean(flag)) throw wrongField(`directive.${name}`, "true or false", flag)
      }
      return {
        kind,
        question,
        ...(options && { options: [...options] }),
        ...(isBoolean(multiple) && { multiple }),
        ...(isBoolean(custom) && { custom }),
      }
    default:
      throw new InvalidResult(`unknown directive ${describeValue(kind)}. The kinds are: finish, ask, continue`)
  }
}

const areTexts = (value: unknown): value is string[] => isListOf(isString)(value)
const isNonEmptyText = (value: unknown): value is string => isString(value) && value.trim() !== ""
const areImages = (value: unknown): value is ImagePart[] =>
  isListOf(isObjectWith({ type: (type) => type === "image", mediaType: isString, data: isString }))(value)

function wrongField(name: string, expected: string, received: unknown): InvalidResult {
  return new InvalidResult(`\`${name}\` must be ${expected}, received ${describeValue(received)}`)
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100))
  if (Array.isArray(value)) return "a list"
  if (typeof value === "function") return "a function"
  return typeof value === "object" && value !== null ? "an object" : String(value)
}
