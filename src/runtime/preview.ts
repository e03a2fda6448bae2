// Shows values as text for the model, cut in depth, width and length.
import { type InspectOptions, inspect, types } from "node:util"

/** A value as a REPL shows it, strings quoted. A huge value costs no more than a large one. */
export function preview(value: unknown): string {
  if (typeof value === "number" && value !== 0) return String(value)
  const text = showSafely(value, () =>
    inspectSafely(limitKeys(value), { ...inspectOptions, depth: affordableDepth(value) }),
  )
  return text.length > maxPreviewLength
    ? `${text.slice(0, maxPreviewLength)}… ${text.length - maxPreviewLength} more characters`
    : text
}

/** Returns true if a preview leaves something out. A value whose own text looks cut counts too; then it merely gets a
 *  name. */
export function isPreviewCut(text: string): boolean {
  return /(\.\.\.|…) \d+ more |\[(Object|Array|Map|Set)\]/.test(text)
}

/** A short text of a value, for messages. */
export function inspectShort(value: unknown): string {
  const text = inspectSafely(value, { depth: 1, maxArrayLength: 10, maxStringLength: 1000, breakLength: Infinity })
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}

/** Length, size or byte length of a value; undefined if it has none. */
export function sizeOf(value: unknown): number | undefined {
  if (typeof value === "string" || Array.isArray(value)) return value.length
  if (value instanceof Map || value instanceof Set) return value.size
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength
  return undefined
}

const inspectOptions: InspectOptions = { maxArrayLength: 100, maxStringLength: 10_000, breakLength: 120, compact: 3 }
const maxPreviewLength = 100_000
const maxPreviewDepth = 6
const maxPreviewMembers = 3000
const maxPreviewWidth = 100

// A value may define how it is shown (`inspect.custom`), and that code may throw.
function inspectSafely(value: unknown, options: InspectOptions): string {
  try {
    return inspect(value, options)
  } catch {
    return showSafely(value, () => inspect(value, { ...options, customInspect: false }))
  }
}

function showSafely(value: unknown, show: () => string): string {
  try {
    return show()
  } catch (error) {
    return `[${typeof value} that cannot be shown${types.isNativeError(error) ? failureSuffix(error) : ""}]`
  }
}

// Read the message without running a getter, which may throw again.
function failureSuffix(error: Error): string {
  const message: unknown = Object.getOwnPropertyDescriptor(error, "message")?.value
  return typeof message === "string" ? `: ${message}` : ""
}

/** The depth to which a value can be shown without too many members. `inspect` limits each array, but not their
 *  product. */
function affordableDepth(value: unknown): number {
  let level = [value]
  let count = 0
  for (let depth = 0; depth < maxPreviewDepth; depth++) {
    level = level.flatMap(membersOf)
    count += level.length
    if (level.length === 0) return maxPreviewDepth
    if (count > maxPreviewMembers) return Math.max(depth - 1, 0)
  }
  return maxPreviewDepth
}

function membersOf(value: unknown): unknown[] {
  // Reading a proxy may run code; `inspect` shows its target instead.
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || types.isProxy(value)) return []
  if (Array.isArray(value)) return value.slice(0, maxPreviewWidth).filter(isContainer)
  if (value instanceof Map) return [...value.entries().take(maxPreviewWidth)].flat().filter(isContainer)
  if (value instanceof Set) return [...value.values().take(maxPreviewWidth)].filter(isContainer)
  return Object.values(Object.getOwnPropertyDescriptors(value))
    .map((descriptor): unknown => descriptor.value)
    .filter(isContainer)
}

function isContainer(value: unknown): boolean {
  return typeof value === "object" && value !== null
}

/** `inspect` shows every key of an object, so an object used as a dictionary is cut to its first keys. */
function limitKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null || types.isProxy(value) || ArrayBuffer.isView(value)) return value
  if (Array.isArray(value)) return value
  const keys = Object.keys(value)
  if (keys.length <= maxPreviewWidth * 2) return value
  const copy: object = Object.create(Object.getPrototypeOf(value))
  for (const key of keys.slice(0, maxPreviewWidth)) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key)
    if (descriptor) Object.defineProperty(copy, key, descriptor)
  }
  return Object.defineProperty(copy, `… ${keys.length - maxPreviewWidth} more keys`, {
    value: undefined,
    enumerable: true,
  })
}
