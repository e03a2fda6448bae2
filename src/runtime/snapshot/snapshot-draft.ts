// Collects what a snapshot of a namespace contains, before it is serialized.
import { types } from "node:util"
import { isObject } from "../../core/object.ts"
import type { BoundValue, Namespace } from "../js/namespace.ts"
import { unwrapObjectProxy } from "../js/proxies/function-proxy.ts"
import type { RuntimeLoss } from "../runtime.ts"
import { createClassifier } from "./classify-objects.ts"
import type { Codecs } from "./codec.ts"
import { digestOf } from "./data-digest.ts"
import { kindOf } from "./heap/object-kinds.ts"
import type { Payload } from "./payload.ts"
import {
  asData,
  createSnapshotWalk,
  omitted,
  reportLoss,
  walkClassifiedValue,
  walkPending,
  walkValue,
} from "./snapshot-walk.ts"
import { splitDeepObjects } from "./split-deep-objects.ts"
import { createWritableCopies } from "./writable-copies.ts"

export interface SnapshotDraft {
  payload: Payload
  /** True if there are enough objects for deep nesting. */
  mayBeDeep: boolean
  lost: RuntimeLoss[]
  /** Injected names whose value is only partly storable, so none of it is stored; with the reason if a codec failed. */
  incompleteInjected: Map<string, string | undefined>
}

export interface DraftOptions {
  codecs: Codecs
  /** Names to leave out, with the reason to report; without a reason, the caller reports it. */
  excluded: ReadonlyMap<string, string | undefined>
  /** If set, the only names to include. */
  only?: ReadonlySet<string>
  /** The digests of injected values that were already computed for this snapshot. */
  storedDigests: Map<string, string>
  /** True to split deeply nested objects into separate parts. */
  splitDeep: boolean
  /** Called with each object that is written as data. */
  onObject?: ((object: object) => void) | undefined
}

export function createDraft(
  namespace: Namespace,
  { codecs, excluded, only, storedDigests, splitDeep, onObject }: DraftOptions,
): SnapshotDraft {
  const { scope, origins, constants } = namespace
  const bound = namespace.boundValues()
  const { classify, preclassified, encode, references, declarations, statics } = createClassifier({
    bound,
    origins,
    codecs,
  })
  const walk = createSnapshotWalk(classify, preclassified, onObject)
  const names: Payload["names"] = []
  const contents: Payload["contents"] = []
  const injectedDigests: Payload["injected"] = []
  const losses: RuntimeLoss[] = []
  const codecFailures = new Map<string, string>()
  const ownNames: [string, unknown][] = []
  const injected = new Set([...bound.values()].map(({ value }) => value))
  // A proxy for a result of a guarded object is stored as the data behind it.
  const unwrapped = (value: unknown) => (injected.has(value) ? value : unwrapObjectProxy(value))

  // Injected data comes first, so that objects shared with other names are reported under the injected name.
  for (const name of only ?? Object.keys(scope)) {
    const value = scope[name]
    const reason = excluded.get(name) ?? importReason(origins.moduleOf(name, value))
    const isInjected = isUnchanged(bound.get(name), value)
    if (reason !== undefined) losses.push({ name, reason, ...(isInjected && { asInjected: true }) })
    else if (excluded.has(name)) continue
    else if (!isInjected) ownNames.push([name, unwrapped(value)])
    else addContents(name, value)
  }
  walkPending(walk)
  const incompleteInjected = new Map([...walk.namesWithLosses].map((name) => [name, codecFailures.get(name)]))
  for (const [name, value] of ownNames) {
    const entry: [string, unknown] = [name, undefined]
    walk.names.set(name, value)
    if (typeof value === "symbol") losses.push({ name, reason: "a symbol" })
    else if (walkValue(walk, entry, 1, value) !== omitted) {
      names.push(entry)
      const digest = namespace.digests.get(name)
      if (digest !== undefined) injectedDigests.push([name, digest, null])
    }
  }
  walkPending(walk)
  if (splitDeep) splitDeepObjects(walk, references)

  const { writtenFor, places, fillings } = createWritableCopies(walk)
  const payload: Payload = {
    names,
    contents,
    injected: injectedDigests,
    constants: names.flatMap(([name]) => (constants.has(name) ? [name] : [])),
    declarations: declarations(),
    references,
    places,
    fillings,
    prototypes: [...walk.prototypes].map(([reference, objects]) => [reference, objects.map(writtenFor)]),
    properties: walk.properties.map(([target, ...rest]) => [writtenFor(target), ...rest]),
    statics,
    closed: walk.closed.map(([target, level]) => [writtenFor(target), level]),
  }
  return {
    payload,
    mayBeDeep: walk.containers.length > 1000,
    lost: [...losses, ...walk.losses.list()],
    incompleteInjected,
  }

  function addContents(name: string, value: unknown): void {
    if (!bound.get(name)?.isVariable || !isObject(value)) return
    const entry: [string, unknown] = [name, undefined]
    walk.names.set(name, value)
    // Cells see a guarded object through a proxy; the object behind it is encoded.
    const unproxied = unwrapObjectProxy(value)
    const encoded = isObject(unproxied) && !types.isProxy(unproxied) ? encode(walk, unproxied, -1) : undefined
    if (typeof encoded === "string") {
      codecFailures.set(name, encoded)
      reportLoss(walk, -1, encoded, { value })
      return
    }
    if (encoded === undefined && !isPlainContainer(value)) return
    walkClassifiedValue(walk, entry, 1, value, encoded ?? asData)
    contents.push(entry)
    const digest = encoded === undefined ? namespace.digests.get(name) : undefined
    if (digest === undefined) return
    const stored = storedDigests.get(name) ?? digestOf(value) ?? ""
    storedDigests.set(name, stored)
    injectedDigests.push([name, digest, stored])
  }

  function isPlainContainer(value: object): boolean {
    const kind = kindOf(walk.kinds, value)
    if (kind !== "object" && kind !== "array" && kind !== "map" && kind !== "set") return false
    const prototype: unknown = Object.getPrototypeOf(value)
    if (kind === "object") return prototype === Object.prototype || prototype === null
    return plainContainerPrototypes.includes(prototype)
  }
}

const plainContainerPrototypes: unknown[] = [Array.prototype, Map.prototype, Set.prototype]

function isUnchanged(bound: BoundValue | undefined, value: unknown): boolean {
  return bound !== undefined && Object.is(bound.value, value)
}

function importReason(specifier: string | undefined): string | undefined {
  return specifier === undefined ? undefined : `it is an import: import it again from "${specifier}"`
}
