// Reads the parts of an error that are sent to another process, and builds an error from such parts.
import { attempt } from "../../../core/attempt.ts"
import { inspectShort } from "../../preview.ts"

/** `fields` are the error's own enumerable properties, `cause` and `errors`. */
export interface ErrorParts {
  name: string
  message: string
  stack?: string | undefined
  fields: [key: string, value: unknown][]
}

/** Reads an error. Accessors are called only for the name, the message and the stack; one that throws counts as
 *  absent. */
export function errorParts(error: Error): ErrorParts {
  const fields: [string, unknown][] = []
  for (const key of new Set([...Object.keys(error), "cause", "errors"])) {
    const property = Object.getOwnPropertyDescriptor(error, key)
    if (property && "value" in property && !standardKeys.has(key)) fields.push([key, property.value])
  }
  const name = attempt(() => error.name) ?? "Error"
  const message = attempt(() => error.message) ?? ""
  const stack = attempt(() => error.stack)
  return { name: asText(name), message: asText(message), fields, ...(typeof stack === "string" && { stack }) }
}

/** Builds an error from its parts. It has the same class if that is a built-in error class. */
export function errorFrom({ name, message, stack, fields }: ErrorParts): Error {
  const error = builtInErrors.get(name)?.(message) ?? new Error(message)
  if (error.name !== name) Object.defineProperty(error, "name", { value: name, writable: true, configurable: true })
  Object.defineProperty(error, "stack", { value: stack ?? `${name}: ${message}`, writable: true, configurable: true })
  for (const [key, value] of fields) {
    // Inherited members of errors, such as `toString`, must not be overwritten.
    if (key in Error.prototype || standardKeys.has(key)) continue
    const enumerable = key !== "cause" && key !== "errors"
    Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true })
  }
  return error
}

const standardKeys = new Set(["name", "message", "stack"])

function asText(value: unknown): string {
  return typeof value === "string" ? value : inspectShort(value)
}

const builtInErrors = new Map<string, (message: string) => Error>(
  [RangeError, TypeError, SyntaxError, ReferenceError, EvalError, URIError].map((type) => [
    type.name,
    (message) => new type(message),
  ]),
)
builtInErrors.set("AggregateError", (message) => new AggregateError([], message))
