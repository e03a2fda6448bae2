// Snapshots of host objects. If cells run in another process, injected objects live on the host: the state of those
// with a codec is encoded here and stored in front of the other process's snapshot bytes.
import { codecOf } from "./bindings/used-objects.ts"
import type { Binding } from "./bindings.ts"
import type { JsCore } from "./js/js-core.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "./runtime.ts"
import type { Codecs } from "./snapshot/codec.ts"
import { checkPayload } from "./snapshot/payload.ts"
import { decodeSnapshot, hashOf, invalidSnapshot } from "./snapshot/snapshot-bytes.ts"

type BindingMap = ReadonlyMap<string, Binding>
type NamedObjects = readonly [name: string, object][]

export interface HostObjectState {
  /** Encodes the objects' state; `data` is undefined if no object has a codec. */
  encode(bindings: BindingMap, maxBytes: number): Promise<{ data: Uint8Array | undefined; lost: RuntimeLoss[] }>
  /** Restores the state of the bound objects. `values` has the objects that a codec created anew, by name. */
  restore(data: Uint8Array, bindings: BindingMap): Promise<{ values: Record<string, object>; lost: RuntimeLoss[] }>
  /** Copies the objects for a fork, by name. */
  copy(bindings: BindingMap): Promise<Record<string, object>>
}

export function createHostObjectState(codecs: Codecs): HostObjectState {
  const objectsWithCodec = (bindings: BindingMap) =>
    boundObjects(bindings).filter(([, value]) => codecOf(value, codecs) !== undefined)

  // Uses the encoding of a jsRuntime: a temporary one that holds only these objects and runs no cell.
  const withTemporaryRuntime = async <T>(objects: NamedObjects, work: (core: JsCore) => Promise<T>): Promise<T> => {
    const { createJsRuntime } = await import("./js/js-core.ts")
    await using core = createJsRuntime(Object.fromEntries(objects), { codecs })
    return await work(core)
  }

  const replacedObjects = async (core: JsCore, objects: NamedObjects): Promise<Record<string, object>> => {
    const replaced: Record<string, object> = {}
    for (const [name, value] of objects) {
      const current = await core.retrieve(name)
      if (typeof current === "object" && current !== null && current !== value) replaced[name] = current
    }
    return replaced
  }

  return {
    async encode(bindings, maxBytes) {
      const objects = objectsWithCodec(bindings)
      if (objects.length === 0) return { data: undefined, lost: [] }
      return await withTemporaryRuntime(objects, (core) => core.snapshot({ maxBytes }))
    },
    async restore(data, bindings) {
      const { contents, names, declarations } = checkPayload(decodeSnapshot(data))
      // Only data is allowed: code in the snapshot would run on the host.
      if (names.length > 0 || declarations.length > 0) throw invalidSnapshot("the state of its host objects holds code")
      const stored = new Set(contents.map(([name]) => name))
      const objects = boundObjects(bindings).filter(([name]) => stored.has(name))
      const snapshot = { version: 1, language: "typescript", data, hash: hashOf(data), lost: [] } as const
      return await withTemporaryRuntime(objects, async (core) => {
        const lost = await core.restore({ ...snapshot, lost: [] })
        return { lost, values: await replacedObjects(core, objects) }
      })
    },
    async copy(bindings) {
      const objects = objectsWithCodec(bindings)
      if (objects.length === 0) return {}
      return await withTemporaryRuntime(objects, async (core) => {
        await using fork = (await core.fork()) as JsCore
        return await replacedObjects(fork, objects)
      })
    },
  }
}

function boundObjects(bindings: BindingMap): NamedObjects {
  return [...bindings].flatMap(([name, binding]): [string, object][] => {
    const value = binding.kind === "variable" ? binding.value : undefined
    return typeof value === "object" && value !== null ? [[name, value]] : []
  })
}

const hostStateHeader = Buffer.from("karst host state 1\n")

export function prependHostState(snapshot: RuntimeSnapshot, state: Uint8Array | undefined): RuntimeSnapshot {
  // Bytes of the other process that begin with the header get one more header, so that they are never read as host
  // state.
  if (!state && !hasHostStateHeader(snapshot.data)) return snapshot
  const length = Buffer.alloc(4)
  length.writeUInt32LE(state?.length ?? 0)
  const data = new Uint8Array(Buffer.concat([hostStateHeader, length, state ?? Buffer.alloc(0), snapshot.data]))
  return { ...snapshot, data, hash: hashOf(data) }
}

/** Splits a snapshot into the other process's part and the host state. Throws if the bytes were changed. */
export function splitHostState(snapshot: RuntimeSnapshot): { own: RuntimeSnapshot; state: Uint8Array | undefined } {
  const { data, hash } = snapshot
  if (!(data instanceof Uint8Array) || !hasHostStateHeader(data)) return { own: snapshot, state: undefined }
  if (hashOf(data) !== hash) throw invalidSnapshot("its bytes are not those its hash was made of")
  const start = hostStateHeader.length + 4
  if (data.length < start) throw invalidSnapshot("it ends too early")
  const end = start + Buffer.from(data.buffer, data.byteOffset, data.byteLength).readUInt32LE(hostStateHeader.length)
  if (end > data.length) throw invalidSnapshot("it ends too early")
  const rest = data.slice(end)
  const own = { ...snapshot, data: rest, hash: hashOf(rest) }
  return { own, state: end > start ? data.slice(start, end) : undefined }
}

function hasHostStateHeader(data: Uint8Array): boolean {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    .subarray(0, hostStateHeader.length)
    .equals(hostStateHeader)
}
