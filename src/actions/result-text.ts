import { inspect } from "node:util"
import { wellFormed } from "../core/message.ts"
import { boundedText, errorParts } from "../core/text/error-text.ts"
import { valueText } from "../core/text/value-text.ts"

/** A value that a tool returned, as text for the model: JSON, in which Maps are objects or pairs, Sets are lists, errors are
 *  their messages and bytes are shown in part. A value that JSON cannot hold, such as a cycle, is shown as `inspect` does. */
export function resultText(value: unknown): string {
  try {
    return wellFormed(JSON.stringify(value, toReadable) ?? inspect(value))
  } catch {
    return wellFormed(inspectedText(value))
  }
}

/** The values that a generator yields, as a list; any other value as it is. Rejects with the reason of `signal`, and where
 *  there are more than `mostYields`, so that a generator without an end does not fill the memory. */
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

/** Whether `for await` takes a value's elements away: a generator or another iterator, and not a list, Map or Set. */
function isGenerator(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== "object" || value === null) return false
  if (!(Symbol.asyncIterator in value) && !(Symbol.iterator in value)) return false
  return "next" in value && typeof value.next === "function"
}

// A method: `this` is the object that has the member, before its `toJSON` was called.
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

// An instance of which JSON would show `{}`: its state is private, or it has none.
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
    // A `toJSON` or an `inspect.custom` of the value throws: this runs nothing of it.
    return valueText(value, { maxChars: 20_000, depth: 4 })
  }
}
