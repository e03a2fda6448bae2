// Decides how each object goes into a snapshot: as data, as a reference to recreate or find it, or not at all.
import { types } from "node:util"
import { attempt } from "../../core/attempt.ts"
import { isObject } from "../../core/object.ts"
import { codecOf } from "../bindings/used-objects.ts"
import type { BoundValue } from "../js/namespace.ts"
import type { CodeOrigin, CodeOrigins } from "./code-origins.ts"
import type { Codecs } from "./codec.ts"
import { addedMembers, type DeclaredCode, readDeclaredCode } from "./declared-code.ts"
import { classNameOf, classOfPrototype, globalName, type ObjectKind, platformObjects } from "./heap/object-kinds.ts"
import { addToTrail } from "./heap/object-trail.ts"
import { mayHavePrivate, privateStateOfClass } from "./heap/private-fields.ts"
import type { CodeDeclaration, Payload, Reference } from "./payload.ts"
import { asData, reportLoss, type SnapshotWalk, walkValue } from "./snapshot-walk.ts"
import { bufferOf } from "./undo/buffer-contents.ts"

export interface ClassifierOptions {
  /** The values the host has bound, by name. */
  bound: ReadonlyMap<string, BoundValue>
  origins: CodeOrigins
  codecs: Codecs
}

/** Creates the decision function, and collects what it decides to write as a reference. */
export function createClassifier({ bound, origins, codecs }: ClassifierOptions) {
  const references: Reference[] = []
  const statics: Payload["statics"] = []
  const code: { origin: CodeOrigin; reference: number; declaration: CodeDeclaration }[] = []
  // Per object: the number of its reference, the reason why it is lost, or a reference to add at first use.
  const decisions = new Map<object, number | string | Reference>(platformDecisions)
  for (const [name, { value }] of bound) if (isObject(value)) decisions.set(value, { type: "binding", name })

  return {
    references,
    statics,
    /** Objects that are never written as data, even if they look plain. */
    preclassified: decisions,
    encode,
    declarations(): CodeDeclaration[] {
      // Declarations refer to each other through references, so sorting changes only their own numbers.
      code.sort((one, other) => one.origin.order - other.origin.order)
      code.forEach(({ reference }, at) => {
        references[reference] = { type: "code", declaration: at }
      })
      return code.map(({ declaration }) => declaration)
    },
    classify(walk: SnapshotWalk, value: object, kind: ObjectKind, parent: number): number {
      const known = knownDecision(value)
      if (typeof known === "number") return known
      if (known === undefined && kind === "object" && Object.getPrototypeOf(value) === Object.prototype) {
        return types.isArgumentsObject(value)
          ? reportLoss(walk, parent, "the arguments of a function", { value })
          : asData
      }
      const decision = known ?? classifyOther(walk, value, kind, parent)
      return typeof decision === "number" ? decision : reportLoss(walk, parent, decision, { value })
    },
  }

  function classifyOther(walk: SnapshotWalk, value: object, kind: ObjectKind, parent: number): number | string {
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
        return classifyData(walk, value, kind, parent)
      case "error":
        return classifyError(walk, value as Error, parent)
      case "function":
        return referTo(walk, value, parent)
      default: {
        const name = globalName(value)
        if (name) return addReference(value, { type: "global", name })
        return reasons[kind] ?? `a ${classNameOf(value)}, which lives in its process only`
      }
    }
  }

  function classifyData(walk: SnapshotWalk, value: object, kind: ObjectKind, parent: number): number | string {
    const prototype: object | null = Object.getPrototypeOf(value)
    if (prototype === null) {
      objectsWithPrototype(walk, null).push(value)
      return asData
    }
    if (types.isSymbolObject(value)) return "a symbol"
    const problem = unwritableBytesReason(value, kind)
    if (problem !== undefined) return problem
    if (plainPrototypes.has(prototype)) return asData
    const encoded = encode(walk, value, parent)
    if (encoded !== undefined) return encoded
    const owner = classOfPrototype(prototype)
    const reference = owner && origins.originOf(owner) ? referTo(walk, owner, parent) : undefined
    if (reference === undefined) {
      return `an instance of ${classNameOf(value)}, which no cell declared: a codec for the class would keep it`
    }
    if (typeof reference === "string") return `an instance of a class that is lost: ${reference}`
    if (mayHavePrivate("members", prototype)) return privateMembersReason(value)
    objectsWithPrototype(walk, reference).push(value)
    if (kind === "object") walk.rowPrototype = prototype
    return asData
  }

  /** Encodes an instance whose class has a codec. Returns its reference, why it failed, or undefined without codec. */
  function encode(walk: SnapshotWalk, value: object, parent: number): number | string | undefined {
    const found = codecOf(value, codecs)
    if (!found) return undefined
    const [name, codec] = found
    const reference: Reference = { type: "codec", codec: name, data: undefined }
    const number = addReference(value, reference)
    try {
      const data = codec.encode(value)
      walk.deferred.push(() => walkValue(walk, reference, "data", data, addToTrail(walk.trail, value, parent)))
      return number
    } catch (error) {
      return markLost(value, `the codec ${name} failed: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  function classifyError(walk: SnapshotWalk, error: Error, parent: number): number | string {
    const encoded = encode(walk, error, parent)
    if (encoded !== undefined) return encoded
    const prototype: object = Object.getPrototypeOf(error)
    const owner = classOfPrototype(prototype)
    const base = errorNames.find((name) => Reflect.get(globalThis, name) === owner)
    const own = base === undefined && owner && origins.originOf(owner) ? referTo(walk, owner, parent) : undefined
    if (base === undefined && typeof own !== "number") {
      return own ?? `an instance of ${classNameOf(error)}, which no cell declared: a codec for the class would keep it`
    }
    if (mayHavePrivate("members", prototype)) return privateMembersReason(error)
    const properties = {}
    const number = addReference(error, {
      type: "error",
      name: base ?? "Error",
      class: own ?? null,
      properties,
    } as Reference)
    walk.deferred.push(() => addErrorProperties(walk, error, properties, parent))
    return number
  }

  function addErrorProperties(walk: SnapshotWalk, error: Error, properties: object, parent: number): void {
    const at = addToTrail(walk.trail, error, parent)
    for (const key of Object.getOwnPropertyNames(error)) {
      const property = Object.getOwnPropertyDescriptor(error, key)
      const read = property && readErrorProperty(error, property)
      if (read) walkValue(walk, properties, key, read.value, at)
      else reportLoss(walk, at, "an accessor", { key })
    }
  }

  function referTo(walk: SnapshotWalk, value: object, parent: number): number | string {
    const known = knownDecision(value)
    if (known !== undefined) return known
    const origin = origins.originOf(value)
    if (origin) return declareCode(walk, value, origin, parent)
    const name = globalName(value)
    if (name) return addReference(value, { type: "global", name })
    return markLost(value, "a function that no cell declared at its top level")
  }

  function declareCode(walk: SnapshotWalk, value: object, origin: CodeOrigin, parent: number): number | string {
    const read = readDeclaredCode(origin.source)
    if (typeof read === "string") return markLost(value, `a function or class that cannot be declared again: ${read}`)
    const declaration: CodeDeclaration = { name: origin.name, source: read.source, known: [...origin.known] }
    if (read.superclass !== undefined) {
      const superclass = Object.getPrototypeOf(value)
      const reference = isObject(superclass) ? referTo(walk, superclass, parent) : "it is null"
      if (typeof reference === "string") return markLost(value, `a class whose superclass is lost: ${reference}`)
      declaration.superclass = [read.superclass, reference]
    }
    const reference = addReference(value, { type: "code", declaration: 0 })
    code.push({ origin, reference, declaration })
    const at = addToTrail(walk.trail, value, parent)
    const hidden = privateStateOfClass(value)
    if (hidden) reportLoss(walk, at, `${hidden}, which other code cannot read`, { value })
    addStatics(walk, value, read, reference, at)
    return reference
  }

  /** Writes the properties added to a function or class after its declaration. */
  function addStatics(
    walk: SnapshotWalk,
    value: object,
    { statics: declared }: DeclaredCode,
    reference: number,
    at: number,
  ): void {
    const properties = {}
    const added = addedMembers(value, value, declared)
    for (const [key, property] of added) {
      if (typeof key === "symbol") reportLoss(walk, at, "a symbol is its key", { key })
      else if ("value" in property) walkValue(walk, properties, key, property.value, at)
      else reportLoss(walk, at, "an accessor", { key })
    }
    if (added.length > 0) statics.push([reference, properties])
    const prototype: unknown = Object.getOwnPropertyDescriptor(value, "prototype")?.value
    for (const [key] of isObject(prototype) ? addedMembers(prototype, value) : []) {
      reportLoss(walk, at, "it was added to the prototype of a class", { key })
    }
  }

  function knownDecision(value: object): number | string | undefined {
    const known = decisions.get(value)
    return typeof known === "object" ? addReference(value, known) : known
  }

  function addReference(value: object, reference: Reference): number {
    const number = references.push(reference) - 1
    decisions.set(value, number)
    return number
  }

  function markLost(value: object, reason: string): string {
    decisions.set(value, reason)
    return reason
  }
}

function privateMembersReason(value: object): string {
  return `an instance of ${classNameOf(value)}, whose #private members other code cannot read or add`
}

/** Returns why a buffer or view cannot be written. */
function unwritableBytesReason(value: object, kind: ObjectKind): string | undefined {
  if (kind !== "bytes" && kind !== "view") return undefined
  const buffer = ArrayBuffer.isView(value) ? bufferOf(value) : (value as ArrayBuffer)
  if (types.isSharedArrayBuffer(buffer)) return "shared memory"
  if (buffer.detached) return "bytes that were given away"
  // A view of a resizable buffer does not reveal whether its length is fixed.
  return kind === "view" && buffer.resizable ? "a view of bytes that can change their number" : undefined
}

function objectsWithPrototype({ prototypes }: SnapshotWalk, reference: number | null): object[] {
  const objects = prototypes.get(reference) ?? []
  prototypes.set(reference, objects)
  return objects
}

const platformDecisions = Array.from(platformObjects, ([value, name]): [object, string | Reference] => [
  value,
  name ? { type: "global", name } : "an object of the platform",
])

/** Reads a property of an error. Returns undefined for an accessor of the program, which is not called. `stack` is the
 *  engine's accessor; it may call accessors of the program for the name and the message, and these may throw. */
function readErrorProperty(error: Error, property: PropertyDescriptor): { value: unknown } | undefined {
  if ("value" in property) return { value: property.value }
  return property.get === engineStackGetter ? attempt(() => ({ value: error.stack })) : undefined
}

const engineStackGetter = Object.getOwnPropertyDescriptor(new Error(), "stack")?.get

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
