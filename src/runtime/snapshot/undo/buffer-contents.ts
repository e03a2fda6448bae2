// Captures and restores the bytes of buffers and views.
import { inspect, types } from "node:util"
import type { CapturedContents } from "./container-contents.ts"
import { captureProperties, isIndex, type Restore, restoreProperties } from "./own-properties.ts"

/** Captures the bytes and the size of a buffer. A detached buffer has none. */
export function captureBuffer(buffer: ArrayBuffer): CapturedContents {
  if (buffer.detached) return { entries: [], restore: () => true }
  const copy = new Uint8Array(buffer).slice()
  const restore = () => {
    if (buffer.detached) return false
    if (buffer.resizable && buffer.byteLength !== copy.length) buffer.resize(copy.length)
    if (buffer.byteLength !== copy.length) return false
    new Uint8Array(buffer).set(copy)
    return true
  }
  return { entries: [], restore }
}

/** Captures the bytes of a view, but not its whole buffer, which other views may share, unless it is resizable. */
export function captureView(view: ArrayBufferView): CapturedContents {
  const buffer = bufferOf(view)
  const named = captureNamedProperties(view)
  if (types.isArrayBuffer(buffer) && (buffer.resizable || buffer.detached)) {
    return { entries: [buffer, ...named.entries], restore: named.restore }
  }
  const { byteOffset, byteLength } = bytesOf(view)
  const size = buffer.byteLength
  const copy = new Uint8Array(buffer, byteOffset, byteLength).slice()
  const restore = () => {
    const isComplete = named.restore()
    if (buffer.byteLength < byteOffset + byteLength) return false
    new Uint8Array(buffer, byteOffset, byteLength).set(copy)
    // Shared memory may have grown and cannot shrink.
    return isComplete && buffer.byteLength === size
  }
  return { entries: named.entries, restore }
}

/** Returns the bytes of a buffer or view; none if it is detached or out of bounds. */
export function bytesOf(holder: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (!ArrayBuffer.isView(holder)) return holder.detached ? new Uint8Array() : new Uint8Array(holder)
  const buffer = bufferOf(holder)
  try {
    return new Uint8Array(
      buffer,
      Number(readViewProperty(holder, "byteOffset")),
      Number(readViewProperty(holder, "byteLength")),
    )
  } catch {
    return new Uint8Array()
  }
}

export function bufferOf(view: ArrayBufferView): ArrayBuffer | SharedArrayBuffer {
  return readViewProperty(view, "buffer") as ArrayBuffer | SharedArrayBuffer
}

/** Reads through the platform's accessors, because a subclass or the view itself may override them. */
function readViewProperty(view: ArrayBufferView, key: string): unknown {
  return Reflect.get(types.isDataView(view) ? DataView.prototype : typedArrayPrototype, key, view)
}

/** Captures properties other than elements. */
function captureNamedProperties(view: ArrayBufferView): { entries: unknown[]; restore: Restore } {
  const prototype: unknown = Object.getPrototypeOf(view)
  const extensible = Object.isExtensible(view)
  const captured = viewHasNamedProperties(view) ? captureProperties(view, isElementKey(view)) : undefined
  const restore = () => {
    const isPlain = !captured && Object.getPrototypeOf(view) === prototype && !viewHasNamedProperties(view)
    if (isPlain) return Object.isExtensible(view) === extensible
    const empty = { keys: [], properties: [], extensible, skip: isElementKey(view), prototype: Object(prototype) }
    return restoreProperties(view, captured ?? empty)
  }
  return { entries: captured?.properties.flatMap(({ value, get, set }) => [value, get, set]) ?? [], restore }
}

/** Returns true if a view has properties other than elements. */
export function viewHasNamedProperties(view: ArrayBufferView): boolean {
  const length = types.isDataView(view) ? 0 : Number(readViewProperty(view, "length"))
  if (length <= maxListedKeys || !plainViews.has(Object.getPrototypeOf(view)))
    return Reflect.ownKeys(view).length > length
  if (Object.getOwnPropertySymbols(view).length > 0) return true
  // Listing the keys of a long view creates a string per index; `inspect` only counts them.
  return !onlyElements.test(inspect(view, { maxArrayLength: 0, depth: 0, customInspect: false }))
}

function isElementKey(view: ArrayBufferView): (key: PropertyKey) => boolean {
  return types.isDataView(view) ? () => false : isIndex
}

const typedArrayPrototype: object = Object.getPrototypeOf(Uint8Array.prototype)
const maxListedKeys = 256
const onlyElements = /^\w+\(\d+\)(?: \[Uint8Array\])? \[\s*\.\.\. \d+ more items?\s*\]$/

const plainViews = new Set<object>(
  [
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
    ...[Float16Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array, Buffer],
  ].map((type) => type.prototype),
)
