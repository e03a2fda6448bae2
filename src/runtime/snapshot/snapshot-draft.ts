import { types } from "node:util"
import type { BoundValue, Namespace } from "../js/namespace.ts"
import { unwrapObjectProxy } from "../js/proxies/function-proxy.ts"
import type { RuntimeLoss } from "../runtime.ts"
import { createClassifier } from "./classify-objects.ts"
import type { Codecs } from "./codec.ts"
import { isObject, kindOf } from "./heap/object-kinds.ts"
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

export interface Draft {
  payload: Payload
  /** Whether there is enough of it to be nested deeply. */
  mayBeDeep: boolean
  lost: RuntimeLoss[]
  /** Injected names whose value holds something that cannot be kept: then none of it should be. With the reason, where a
   *  codec gave one. */
  incompleteInjected: Map<string, string | undefined>
}

export interface DraftOptions {
  codecs: Codecs
  /** The names that are left out, with the reason; without one, it is reported elsewhere. */
  excluded: ReadonlyMap<string, string | undefined>
  /** Where it is given, the names that are not left out. */
  only?: ReadonlySet<string>
  /** Whether what is nested deeply is cut into parts that are not. */
  splitDeep: boolean
  /** Called with each object that is written as data. */
  onObject?: ((object: object) => void) | undefined
}

/** Draws up what a snapshot of a namespace holds. */
export function createDraft(
  namespace: Namespace,
  { codecs, excluded: left, only, splitDeep: cut, onObject }: DraftOptions,
): Draft {
  const { scope, origins, constants } = namespace
  const bound = namespace.boundValues()
  const {
    classify: judge,
    preclassified: known,
    encode,
    references,
    declarations,
    statics,
  } = createClassifier({ bound, origins, codecs })
  const walk = createSnapshotWalk(judge, known, onObject)
  const names: Payload["names"] = []
  const contents: Payload["contents"] = []
  const gone: RuntimeLoss[] = []
  const failed = new Map<string, string>()
  const own: [string, unknown][] = []
  const injected = new Set([...bound.values()].map(({ value }) => value))
  // A view of what a guarded object gave is kept as the data behind it.
  const behindView = (value: unknown) => (injected.has(value) ? value : unwrapObjectProxy(value))

  // Injected data first: what is inside it and elsewhere as well is told under the injected name.
  for (const name of only ?? Object.keys(scope)) {
    const value = scope[name]
    const reason = left.get(name) ?? importReason(origins.moduleOf(name, value))
    const isInjected = isUnchanged(bound.get(name), value)
    if (reason !== undefined) gone.push({ name, reason, ...(isInjected && { asInjected: true }) })
    else if (left.has(name)) continue
    else if (!isInjected) own.push([name, behindView(value)])
    else addContents(name, value)
  }
  walkPending(walk)
  const rebound = new Map([...walk.namesWithLosses].map((name) => [name, failed.get(name)]))
  for (const [name, value] of own) {
    const entry: [string, unknown] = [name, undefined]
    walk.names.set(name, value)
    if (typeof value === "symbol") gone.push({ name, reason: "a symbol" })
    else if (walkValue(walk, entry, 1, value) !== omitted) names.push(entry)
  }
  walkPending(walk)
  if (cut) splitDeepObjects(walk, references)

  const { writtenFor: of, places, fillings } = createWritableCopies(walk)
  const payload: Payload = {
    names,
    contents,
    constants: names.flatMap(([name]) => (constants.has(name) ? [name] : [])),
    declarations: declarations(),
    references,
    places,
    fillings,
    prototypes: [...walk.prototypes].map(([reference, objects]) => [reference, objects.map(of)]),
    properties: walk.properties.map(([target, ...rest]) => [of(target), ...rest]),
    statics,
    closed: walk.closed.map(([target, level]) => [of(target), level]),
  }
  return {
    payload,
    mayBeDeep: walk.containers.length > 1000,
    lost: [...gone, ...walk.losses.list()],
    incompleteInjected: rebound,
  }

  function addContents(name: string, value: unknown): void {
    if (!bound.get(name)?.isVariable || !isObject(value)) return
    const entry: [string, unknown] = [name, undefined]
    walk.names.set(name, value)
    // A guarded object is a Proxy in cells; the object behind it is encoded.
    const real = unwrapObjectProxy(value)
    const encoded = isObject(real) && !types.isProxy(real) ? encode(walk, real, -1) : undefined
    if (typeof encoded === "string") {
      failed.set(name, encoded)
      reportLoss(walk, -1, encoded, { value })
      return
    }
    if (encoded === undefined && !isPlainContainer(value)) return
    walkClassifiedValue(walk, entry, 1, value, encoded ?? asData)
    contents.push(entry)
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
