import { inspect, types } from "node:util"
import type { CapturedContents } from "./container-contents.ts"
import { captureProperties, isIndex, type Restore, restoreProperties } from "./own-properties.ts"

/** The bytes of a buffer, and its size. One that was given away before holds nothing. */
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

/** The bytes a view shows, and no others, as Node keeps many small buffers in one; but all of a buffer that can change its
 *  size. */
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
    const whole = named.restore()
    if (buffer.byteLength < byteOffset + byteLength) return false
    new Uint8Array(buffer, byteOffset, byteLength).set(copy)
    // Shared memory may grow, and never shrinks.
    return whole && buffer.byteLength === size
  }
  return { entries: named.entries, restore }
}

/** The bytes that a buffer holds or a view shows; none of what was given away or is out of bounds. */
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
  // The platform's own accessor gives nothing else.
  return readViewProperty(view, "buffer") as ArrayBuffer | SharedArrayBuffer
}

/** Reads by the platform's own accessors: a subclass, or the view itself, may have others under the same names. */
function readViewProperty(view: ArrayBufferView, key: string): unknown {
  return Reflect.get(types.isDataView(view) ? DataView.prototype : typedArrayPrototype, key, view)
}

/** Properties besides the elements. */
function captureNamedProperties(view: ArrayBufferView): { entries: unknown[]; restore: Restore } {
  const prototype: unknown = Object.getPrototypeOf(view)
  const extensible = Object.isExtensible(view)
  const had = viewHasNamedProperties(view) ? captureProperties(view, isElementKey(view)) : undefined
  const restore = () => {
    const isPlain = !had && Object.getPrototypeOf(view) === prototype && !viewHasNamedProperties(view)
    if (isPlain) return Object.isExtensible(view) === extensible
    const nothing = { keys: [], properties: [], extensible, skip: isElementKey(view), prototype: Object(prototype) }
    return restoreProperties(view, had ?? nothing)
  }
  return { entries: had?.properties.flatMap(({ value, get, set }) => [value, get, set]) ?? [], restore }
}

/** Whether a view has properties besides its elements. */
export function viewHasNamedProperties(view: ArrayBufferView): boolean {
  const length = types.isDataView(view) ? 0 : Number(readViewProperty(view, "length"))
  if (length <= maxListedKeys || !plainViews.has(Object.getPrototypeOf(view)))
    return Reflect.ownKeys(view).length > length
  if (Object.getOwnPropertySymbols(view).length > 0) return true
  // Listing the keys of a long one makes a string of each index; `inspect` counts them only.
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
