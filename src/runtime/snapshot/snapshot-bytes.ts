// The byte format of snapshots: a header line, then one value serialized by V8.
import { hash } from "node:crypto"
import { Deserializer, Serializer } from "node:v8"
import { AgentError } from "../../core/errors.ts"
import { bytesOf } from "./undo/buffer-contents.ts"

const header = Buffer.from("karst snapshot 1\n")

/** With `deep`, throws a `RangeError` for values nested so deeply that they could not be read again. */
export function encodeSnapshot(value: unknown, deep = false): Uint8Array {
  const serializer = new HeapSerializer()
  serializer.writeRawBytes(header)
  serializer.writeHeader()
  // Reading may take twice as much stack as writing.
  if (deep) runWithLessStack(stackFrames, () => serializer.writeValue(value))
  else serializer.writeValue(value)
  return serializer.releaseBuffer()
}

/** Runs a function with 600 KB less of the 984 KB stack. */
function runWithLessStack(frames: number, job: () => void): void {
  if (frames === 0) job()
  else Reflect.apply(runWithLessStack, undefined, [frames - 1, job, ...stackFiller])
}

const stackFrames = 10
const stackFiller = new Array<number>(7_500).fill(0)

/** Returns the value in a snapshot's bytes without running its code. Throws an `AgentError` for invalid bytes. */
export function decodeSnapshot(data: Uint8Array): unknown {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (!bytes.subarray(0, header.length).equals(header)) {
    throw invalidSnapshot("its first bytes do not say that it is one, or it is of a version this Karst does not know")
  }
  try {
    const deserializer = new HeapDeserializer(bytes.subarray(header.length))
    deserializer.readHeader()
    return deserializer.readValue()
  } catch (cause) {
    throw invalidSnapshot("its bytes are damaged, or a newer Node made them", cause)
  }
}

export function hashOf(data: Uint8Array): string {
  return hash("sha256", data)
}

export function invalidSnapshot(why: string, cause?: unknown): AgentError {
  return new AgentError(`The snapshot cannot be restored: ${why}. Take another one.`, {
    code: "invalid-snapshot",
    cause,
  })
}

interface ViewType {
  new (buffer: ArrayBuffer, offset: number, length: number): ArrayBufferView
  readonly BYTES_PER_ELEMENT?: number
}

// The index is part of the format: append only.
const viewTypes: readonly ViewType[] = [
  DataView,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  // Used for Node's Buffer.
  Uint8Array,
  Float16Array,
]
const nodeBufferIndex = 12

/** Writes views with their shared buffers. Node's default would copy the bytes of each view and separate them. */
class HeapSerializer extends Serializer {
  constructor() {
    super()
    // This documented method is missing from Node's types.
    const internals = this as unknown as { _setTreatArrayBufferViewsAsHostObjects(flag: boolean): void }
    internals._setTreatArrayBufferViewsAsHostObjects(true)
  }

  _writeHostObject(view: ArrayBufferView): void {
    const isBuffer = view instanceof Buffer
    const bytes = bytesOf(view)
    // Node allocates small buffers in a shared pool: write only the bytes of this one.
    const isPooled = isBuffer && bytes.buffer.byteLength === Buffer.poolSize && bytes.byteLength < Buffer.poolSize
    this.writeUint32(isBuffer ? nodeBufferIndex : viewTypes.findIndex((type) => view instanceof type))
    this.writeUint32(isPooled ? 0 : bytes.byteOffset)
    this.writeUint32(bytes.byteLength)
    this.writeValue(isPooled ? bytes.slice().buffer : bytes.buffer)
  }

  _getDataCloneError(message: string): Error {
    return new Error(message)
  }
}

class HeapDeserializer extends Deserializer {
  _readHostObject(): ArrayBufferView {
    const index = this.readUint32()
    const offset = this.readUint32()
    const length = this.readUint32()
    const buffer: unknown = this.readValue()
    if (!(buffer instanceof ArrayBuffer)) throw new TypeError("A view is not of bytes.")
    if (index === nodeBufferIndex) return Buffer.from(buffer, offset, length)
    const View = viewTypes[index]
    if (!View) throw new TypeError("A view is of an unknown kind.")
    return new View(buffer, offset, length / (View.BYTES_PER_ELEMENT ?? 1))
  }
}
