import { types } from "node:util"
import { realOf } from "../cells/call.ts"
import type { Bound, Namespace } from "../cells/namespace.ts"
import { isObject, kindOf } from "../heap/kinds.ts"
import type { Lost } from "../runtime.ts"
import type { Codecs } from "./codec.ts"
import { makeCopies } from "./copies.ts"
import { cutDeep } from "./depth.ts"
import { createJudge } from "./judge.ts"
import type { Payload } from "./payload.ts"
import { createSurvey, finish, kept, lose, lost, survey, surveyContents } from "./survey.ts"

export interface Draft {
  payload: Payload
  /** Whether there is enough of it to be nested deeply. */
  deep: boolean
  lost: Lost[]
  /** Injected names whose value holds something that cannot be kept: then none of it should be. With the reason, where a
   *  codec gave one. */
  rebound: Map<string, string | undefined>
}

export interface DraftOptions {
  codecs: Codecs
  /** The names that are left out, with the reason; without one, it is reported elsewhere. */
  left: ReadonlyMap<string, string | undefined>
  /** Where it is given, the names that are not left out. */
  only?: ReadonlySet<string>
  /** Whether what is nested deeply is cut into parts that are not. */
  cut: boolean
  /** Called with each object that is written as data. */
  onObject?: ((object: object) => void) | undefined
}

/** Draws up what a snapshot of a namespace holds. */
export function draft(namespace: Namespace, { codecs, left, only, cut, onObject }: DraftOptions): Draft {
  const { scope, origins, constants } = namespace
  const bound = namespace.bound()
  const { judge, known, encode, references, declarations, statics } = createJudge({ bound, origins, codecs })
  const walk = createSurvey(judge, known, onObject)
  const names: Payload["names"] = []
  const contents: Payload["contents"] = []
  const gone: Lost[] = []
  const failed = new Map<string, string>()
  const own: [string, unknown][] = []
  const injected = new Set([...bound.values()].map(({ value }) => value))
  // A view of what a guarded object gave is kept as the data behind it.
  const behindView = (value: unknown) => (injected.has(value) ? value : realOf(value))

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
  finish(walk)
  const rebound = new Map([...walk.incomplete].map((name) => [name, failed.get(name)]))
  for (const [name, value] of own) {
    const entry: [string, unknown] = [name, undefined]
    walk.names.set(name, value)
    if (typeof value === "symbol") gone.push({ name, reason: "a symbol" })
    else if (survey(walk, entry, 1, value) !== lost) names.push(entry)
  }
  finish(walk)
  if (cut) cutDeep(walk, references)

  const { of, places, fillings } = makeCopies(walk)
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
  return { payload, deep: walk.containers.length > 1000, lost: [...gone, ...walk.losses.list()], rebound }

  function addContents(name: string, value: unknown): void {
    if (!bound.get(name)?.isVariable || !isObject(value)) return
    const entry: [string, unknown] = [name, undefined]
    walk.names.set(name, value)
    // A guarded object is a Proxy in cells; the object behind it is encoded.
    const real = realOf(value)
    const encoded = isObject(real) && !types.isProxy(real) ? encode(walk, real, -1) : undefined
    if (typeof encoded === "string") {
      failed.set(name, encoded)
      lose(walk, -1, encoded, { value })
      return
    }
    if (encoded === undefined && !isPlainContainer(value)) return
    surveyContents(walk, entry, 1, value, encoded ?? kept)
    contents.push(entry)
  }

  function isPlainContainer(value: object): boolean {
    const kind = kindOf(walk.kinds, value)
    if (kind !== "object" && kind !== "array" && kind !== "map" && kind !== "set") return false
    const prototype: unknown = Object.getPrototypeOf(value)
    if (kind === "object") return prototype === Object.prototype || prototype === null
    return plain.includes(prototype)
  }
}

const plain: unknown[] = [Array.prototype, Map.prototype, Set.prototype]

function isUnchanged(bound: Bound | undefined, value: unknown): boolean {
  return bound !== undefined && Object.is(bound.value, value)
}

function importReason(specifier: string | undefined): string | undefined {
  return specifier === undefined ? undefined : `it is an import: import it again from "${specifier}"`
}
