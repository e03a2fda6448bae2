// Turns the value that a tool returned into text for the model.
import { inspect } from "node:util"
import { wellFormed } from "../core/message.ts"
import { boundedText, errorParts } from "../core/text/error-text.ts"
import { valueText } from "../core/text/value-text.ts"

/** Returns a value as JSON text. Maps become objects or pairs, Sets become lists, errors become their messages, and
 *  bytes are shown in part. A value that JSON cannot represent, such as a cycle, is shown by `inspect`. */
export function resultText(value: unknown): string {
  try {
    return wellFormed(JSON.stringify(value, toReadable) ?? inspect(value))
  } catch {
    return wellFormed(inspectedText(value))
  }
}

/** Returns the values of a generator as a list, and any other value unchanged. Rejects when `signal` aborts, and after
 *  `maxYields` values, so that an endless generator does not fill the memory. */
export async function collectYields(value: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isGenerator(value)) return value
  const yields: unknown[] = []
  for await (const each of value) {
    signal.throwIfAborted()
    if (yields.length === maxYields) {
      throw new RangeError(`It yielded more than ${maxYields} values. Return a list of those that matter.`)
    }
    yields.push(each)
  }
  return yields
}

const maxYields = 10_000

/** Returns true for a generator or another iterator, which `for await` consumes; false for a list, Map or Set. */
function isGenerator(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== "object" || value === null) return false
  if (!(Symbol.asyncIterator in value) && !(Symbol.iterator in value)) return false
  return "next" in value && typeof value.next === "function"
}

// `this` is the object that has the member; reading the member from it gives the value before `toJSON`.
function toReadable(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value)
  const member: unknown = typeof this === "object" && this !== null ? Reflect.get(this, key) : value
  if (typeof member !== "object" || member === null) return value
  if (member instanceof Map) return mapData(member)
  if (member instanceof Set) return [...member]
  if (member instanceof Error) return errorText(member)
  if (ArrayBuffer.isView(member) || member instanceof ArrayBuffer) return bytesData(member)
  if (member instanceof RegExp) return String(member)
  return value === member && hasHiddenState(member) ? hiddenStateText(member) : value
}

function mapData(map: ReadonlyMap<unknown, unknown>): unknown {
  const entries = [...map]
  return entries.every(([key]) => typeof key === "string") ? Object.fromEntries(entries) : entries
}

function errorText(error: Error): string {
  const { name, message } = errorParts(error)
  return boundedText(message === "" ? name : `${name}: ${message}`)
}

function bytesData(value: ArrayBufferView | ArrayBuffer): unknown {
  const isNumbers = ArrayBuffer.isView(value) && !(value instanceof DataView) && !(value instanceof Uint8Array)
  return isNumbers && Symbol.iterator in value ? Array.from(Object(value)) : inspect(value, { maxArrayLength: 50 })
}

// Returns true for an instance that JSON would show as `{}`, because its state is private or absent.
function hasHiddenState(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype || Array.isArray(value)) return false
  return Object.values(value).every((member) => typeof member === "function")
}

function hiddenStateText(value: object): string {
  const text = value.toString === Object.prototype.toString ? "" : String(value)
  return text === "" ? inspect(value, { depth: 2 }) : text
}

function inspectedText(value: unknown): string {
  try {
    return inspect(value, { depth: 4, breakLength: 100 })
  } catch {
    // A `toJSON` or `inspect.custom` of the value threw. `valueText` calls neither.
    return valueText(value, { maxChars: 20_000, depth: 4 })
  }
}
