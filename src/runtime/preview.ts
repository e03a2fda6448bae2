import { type InspectOptions, inspect, types } from "node:util"

/** A value as text the model can read: as a REPL shows it, strings quoted, cut in depth, width and length so that a huge
 *  value costs no more than a large one. */
export function preview(value: unknown): string {
  if (typeof value === "number" && value !== 0) return String(value)
  const text = showSafely(value, () =>
    inspectSafely(limitKeys(value), { ...inspectOptions, depth: affordableDepth(value) }),
  )
  return text.length > maxPreviewLength
    ? `${text.slice(0, maxPreviewLength)}… ${text.length - maxPreviewLength} more characters`
    : text
}

/** Whether a preview leaves something out. A text that only looks so counts too, which costs a name and nothing else. */
export function isPreviewCut(text: string): boolean {
  return /(\.\.\.|…) \d+ more |\[(Object|Array|Map|Set)\]/.test(text)
}

/** One line or so, for messages. */
export function inspectShort(value: unknown): string {
  const text = inspectSafely(value, { depth: 1, maxArrayLength: 10, maxStringLength: 1000, breakLength: Infinity })
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}

/** How many things are in a value, where that means something. */
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

// A value may define how it is shown, and that code may throw.
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

// Even the message of what was thrown may throw when it is read.
function failureSuffix(error: Error): string {
  const message: unknown = Object.getOwnPropertyDescriptor(error, "message")?.value
  return typeof message === "string" ? `: ${message}` : ""
}

/** Levels that can be shown before there are too many things: `inspect` bounds each array, but not their product. */
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
  // Looking into a proxy may run code; `inspect` looks behind it.
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

/** `inspect` shows every key of an object: one used as a dictionary is cut to its first keys. */
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
