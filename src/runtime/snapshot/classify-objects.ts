import { types } from "node:util"
import { codecOf } from "../bindings/used-objects.ts"
import type { BoundValue } from "../js/namespace.ts"
import type { CodeOrigin, CodeOrigins } from "./code-origins.ts"
import type { Codecs } from "./codec.ts"
import { type DeclaredCode, readDeclaredCode } from "./declared-code.ts"
import {
  classNameOf,
  classOfPrototype,
  globalName,
  isObject,
  type ObjectKind,
  platformObjects,
} from "./heap/object-kinds.ts"
import { addToTrail } from "./heap/object-trail.ts"
import { hasPrivateState, hasPrivateStatics } from "./heap/private-fields.ts"
import type { CodeDeclaration, Payload, Reference } from "./payload.ts"
import { asData, type Classify, reportLoss, type SnapshotWalk, walkValue } from "./snapshot-walk.ts"
import { bufferOf } from "./undo/buffer-contents.ts"

/** What a judge finds out on its way: everything that is written as a reference. */
export interface Classifier {
  classify: Classify
  /** Objects that are written as something else, however plain they look. */
  preclassified: ReadonlyMap<object, unknown>
  /** What to write for an instance of a class that has a codec; undefined for any other value. */
  encode(walk: SnapshotWalk, value: object, above: number): number | string | undefined
  references: Reference[]
  declarations: () => CodeDeclaration[]
  statics: Payload["statics"]
}

export interface ClassifierOptions {
  /** What the host has bound, by name. */
  bound: ReadonlyMap<string, BoundValue>
  origins: CodeOrigins
  codecs: Codecs
}

/** Decides what to write for what is no plain data. */
export function createClassifier({ bound, origins, codecs }: ClassifierOptions): Classifier {
  const references: Reference[] = []
  const statics: Payload["statics"] = []
  const code: { origin: CodeOrigin; reference: number; declaration: CodeDeclaration }[] = []
  // The number of a reference, why there is none, or the reference to be made when it is needed.
  const verdicts = new Map<object, number | string | Reference>()
  for (const [value, name] of platformObjects)
    verdicts.set(value, name ? { type: "global", name } : platformObjectReason)
  for (const [name, { value }] of bound) if (isObject(value)) verdicts.set(value, { type: "binding", name })

  return {
    references,
    statics,
    preclassified: verdicts,
    encode,
    declarations() {
      // Declarations refer to each other by reference, so only their own numbers change.
      code.sort((one, other) => one.origin.order - other.origin.order)
      code.forEach(({ reference }, at) => {
        references[reference] = { type: "code", declaration: at }
      })
      return code.map(({ declaration }) => declaration)
    },
    classify(walk, value, kind, above) {
      const known = knownVerdict(value)
      if (typeof known === "number") return known
      if (known === undefined && kind === "object" && Object.getPrototypeOf(value) === Object.prototype) {
        return types.isArgumentsObject(value)
          ? reportLoss(walk, above, "the arguments of a function", { value })
          : asData
      }
      const verdict = known ?? judgeOther(walk, value, kind, above)
      return typeof verdict === "number" ? verdict : reportLoss(walk, above, verdict, { value })
    },
  }

  function judgeOther(walk: SnapshotWalk, value: object, kind: ObjectKind, above: number): number | string {
    switch (kind) {
      case "object":
      case "array":
      case "map":
      case "set":
      case "date":
      case "regexp":
      case "bytes":
      case "view":
      case "boxed":
        return judgeData(walk, value, kind, above)
      case "error":
        return judgeError(walk, value as Error, above)
      case "function":
        return referTo(walk, value, above)
      default: {
        const name = globalName(value)
        if (name) return remember(value, { type: "global", name })
        return reasons[kind] ?? `a ${classNameOf(value)}, which lives in its process only`
      }
    }
  }

  function judgeData(walk: SnapshotWalk, value: object, kind: ObjectKind, above: number): number | string {
    const prototype: object | null = Object.getPrototypeOf(value)
    if (prototype === null) {
      objectsWithPrototype(walk, null).push(value)
      return asData
    }
    if (types.isSymbolObject(value)) return "a symbol"
    const problem = unwritableBytesReason(value, kind)
    if (problem !== undefined) return problem
    if (plainPrototypes.has(prototype)) return asData
    const encoded = encode(walk, value, above)
    if (encoded !== undefined) return encoded
    const maker = classOfPrototype(prototype)
    const reference = maker && origins.originOf(maker) ? referTo(walk, maker, above) : undefined
    if (reference === undefined) {
      return `an instance of ${classNameOf(value)}, which no cell declared: a codec for the class would keep it`
    }
    if (typeof reference === "string") return `an instance of a class that is lost: ${reference}`
    if (hasPrivateState(prototype)) return `an instance of ${classNameOf(value)}, whose #private fields nobody can read`
    objectsWithPrototype(walk, reference).push(value)
    if (kind === "object") walk.rowPrototype = prototype
    return asData
  }

  function encode(walk: SnapshotWalk, value: object, above: number): number | string | undefined {
    const found = codecOf(value, codecs)
    if (!found) return undefined
    const [name, codec] = found
    const reference: Reference = { type: "codec", codec: name, data: undefined }
    const number = remember(value, reference)
    try {
      const data = codec.encode(value)
      walk.deferred.push(() => walkValue(walk, reference, "data", data, addToTrail(walk.trail, value, above)))
      return number
    } catch (error) {
      return forget(value, `the codec ${name} failed: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  function judgeError(walk: SnapshotWalk, error: Error, above: number): number | string {
    const encoded = encode(walk, error, above)
    if (encoded !== undefined) return encoded
    const prototype: object = Object.getPrototypeOf(error)
    const maker = classOfPrototype(prototype)
    const base = errorNames.find((name) => Reflect.get(globalThis, name) === maker)
    const own = base === undefined && maker && origins.originOf(maker) ? referTo(walk, maker, above) : undefined
    if (base === undefined && typeof own !== "number") {
      return own ?? `an instance of ${classNameOf(error)}, which no cell declared: a codec for the class would keep it`
    }
    if (hasPrivateState(prototype)) return `an instance of ${classNameOf(error)}, whose #private fields nobody can read`
    const properties = {}
    const number = remember(error, {
      type: "error",
      name: base ?? "Error",
      class: own ?? null,
      properties,
    } as Reference)
    walk.deferred.push(() => addErrorProperties(walk, error, properties, above))
    return number
  }

  function addErrorProperties(walk: SnapshotWalk, error: Error, properties: object, above: number): void {
    const at = addToTrail(walk.trail, error, above)
    for (const key of Object.getOwnPropertyNames(error)) {
      const property = Object.getOwnPropertyDescriptor(error, key)
      // Of accessors only the stack is the engine's own.
      if (key === "stack") walkValue(walk, properties, key, error.stack, at)
      else if (property && "value" in property) walkValue(walk, properties, key, property.value, at)
      else reportLoss(walk, at, "an accessor", { key })
    }
  }

  function referTo(walk: SnapshotWalk, value: object, above: number): number | string {
    const known = knownVerdict(value)
    if (known !== undefined) return known
    const origin = origins.originOf(value)
    if (origin) return declare(walk, value, origin, above)
    const name = globalName(value)
    if (name) return remember(value, { type: "global", name })
    return forget(value, "a function that no cell declared at its top level")
  }

  function declare(walk: SnapshotWalk, value: object, origin: CodeOrigin, above: number): number | string {
    const read = readDeclaredCode(origin.source)
    if (typeof read === "string") return forget(value, `a function or class that cannot be declared again: ${read}`)
    const declaration: CodeDeclaration = { name: origin.name, source: read.source, known: [...origin.known] }
    if (read.superclass !== undefined) {
      const superclass = Object.getPrototypeOf(value)
      const reference = isObject(superclass) ? referTo(walk, superclass, above) : "it is null"
      if (typeof reference === "string") return forget(value, `a class whose superclass is lost: ${reference}`)
      declaration.superclass = [read.superclass, reference]
    }
    const reference = remember(value, { type: "code", declaration: 0 })
    code.push({ origin, reference, declaration })
    const at = addToTrail(walk.trail, value, above)
    if (hasPrivateStatics(value)) reportLoss(walk, at, "static #private fields, which nobody else can read", { value })
    addStatics(walk, value, read, reference, at)
    return reference
  }

  /** What was put on a function or class besides what its declaration puts there. */
  function addStatics(
    walk: SnapshotWalk,
    value: object,
    { statics: declared }: DeclaredCode,
    reference: number,
    at: number,
  ): void {
    const properties = {}
    for (const key of Object.keys(value)) {
      const property = Object.getOwnPropertyDescriptor(value, key)
      if (typeof property?.value === "function" && declared.has(key)) continue
      if (property && "value" in property) walkValue(walk, properties, key, property.value, at)
      else reportLoss(walk, at, "an accessor", { key })
    }
    if (Object.keys(value).length > 0) statics.push([reference, properties])
    const prototype: unknown = Object.getOwnPropertyDescriptor(value, "prototype")?.value
    for (const key of isObject(prototype) ? Object.keys(prototype) : []) {
      reportLoss(walk, at, "it was added to the prototype of a class", { key })
    }
  }

  function knownVerdict(value: object): number | string | undefined {
    const known = verdicts.get(value)
    return typeof known === "object" ? remember(value, known) : known
  }

  function remember(value: object, reference: Reference): number {
    const number = references.push(reference) - 1
    verdicts.set(value, number)
    return number
  }

  function forget(value: object, reason: string): string {
    verdicts.set(value, reason)
    return reason
  }
}

/** Why bytes cannot be written as they are. */
function unwritableBytesReason(value: object, kind: ObjectKind): string | undefined {
  if (kind !== "bytes" && kind !== "view") return undefined
  const buffer = ArrayBuffer.isView(value) ? bufferOf(value) : (value as ArrayBuffer)
  if (types.isSharedArrayBuffer(buffer)) return "shared memory"
  if (buffer.detached) return "bytes that were given away"
  // Whether it shows all there is or a fixed number of bytes, a view does not tell.
  return kind === "view" && buffer.resizable ? "a view of bytes that can change their number" : undefined
}

function objectsWithPrototype({ prototypes }: SnapshotWalk, reference: number | null): object[] {
  const objects = prototypes.get(reference) ?? []
  prototypes.set(reference, objects)
  return objects
}

const platformObjectReason = "an object of the platform"

const reasons: { [kind in ObjectKind]?: string } = {
  promise: "a promise",
  proxy: "a proxy",
  generator: "a generator",
  module: "a module: import it again",
}

const errorNames = [
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
  "AggregateError",
]

const plainPrototypes = new Set<object>([
  Object.prototype,
  Array.prototype,
  Map.prototype,
  Set.prototype,
  Date.prototype,
  RegExp.prototype,
  ArrayBuffer.prototype,
  DataView.prototype,
  Buffer.prototype,
  Number.prototype,
  String.prototype,
  Boolean.prototype,
  BigInt.prototype,
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array].map(
    (type) => type.prototype,
  ),
  ...[Float16Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array].map((type) => type.prototype),
])
