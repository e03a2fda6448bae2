import { realOf } from "./cells/call.ts"
import type { CellPlace } from "./cells/execute.ts"
import type { Namespace } from "./cells/namespace.ts"
import { nameProblem } from "./names.ts"
import type { Lost, Snapshot } from "./runtime.ts"
import type { Codecs } from "./snapshot/codec.ts"
import { type Draft, draft } from "./snapshot/draft.ts"
import { fillInPlace } from "./snapshot/fill-in-place.ts"
import { load } from "./snapshot/load.ts"
import { checkPayload } from "./snapshot/payload.ts"
import { hashOf, invalidSnapshot, pack, unpack } from "./snapshot/wire.ts"
import { lostState, notInjected, objectsIn, withoutSameObjects } from "./used-objects.ts"

export interface SnapshotOptions {
  codecs: Codecs
  /** The largest names are left out of what would be larger. */
  maxBytes: number
}

/** Writes down everything in a namespace that can be kept. Nothing of it is changed, and but for codecs none of its code
 *  runs: accessors are not called, proxies not entered. */
export function takeSnapshot({ namespace }: CellPlace, { codecs, maxBytes }: SnapshotOptions): Snapshot {
  const left = new Map<string, string | undefined>()
  let cut = false
  const drawn = (only?: ReadonlySet<string>) => draft(namespace, { codecs, left, cut, ...(only && { only }) })
  for (;;) {
    const whole = drawn()
    const data = whole.rebound.size === 0 ? packed(whole) : undefined
    // What holds something that cannot be kept is bound again as a whole.
    if (!data) for (const [name, reason] of whole.rebound) left.set(name, reason)
    else if (data instanceof RangeError && !cut) cut = true
    else if (data instanceof Error) for (const [name, why] of unwritable(whole, drawn, data)) left.set(name, why)
    else {
      const sizes = data.length > maxBytes ? sizesOf(whole, drawn) : []
      if (sizes.length === 0) {
        const lost = [...whole.lost, ...usedAndLost(namespace, whole)]
        return { version: 1, language: "typescript", data, hash: hashOf(data), lost }
      }
      let excess = data.length - maxBytes
      for (const { name, size } of sizes) {
        if (excess <= 0) break
        left.set(name, `too large: of ${size} bytes, and a snapshot may have ${maxBytes}`)
        excess -= size
      }
    }
  }
}

/** The injected objects that cells used and that are not in the snapshot. */
function usedAndLost({ bindings, used }: Namespace, whole: Draft): Lost[] {
  const reported = new Set(whole.lost.flatMap(({ name, path }) => (path === undefined ? [name] : [])))
  const kept = new Set(namesIn(whole))
  return objectsIn(bindings)
    .filter(({ name, value }) => used.has(value) && !kept.has(name) && !reported.has(name))
    .map(lostState)
}

/** Replaces a namespace by what a snapshot holds. Runs no code of it but declarations of functions and classes. A
 *  snapshot that is none, or whose bytes were changed, is an `AgentError`, and nothing has happened then. */
export async function loadSnapshot(
  snapshot: Snapshot,
  place: CellPlace,
  { codecs, leave }: LoadSnapshotOptions,
): Promise<Lost[]> {
  const { namespace } = place
  const payload = readSnapshot(snapshot)
  const inPlace = !copies.has(snapshot)
  leave()
  namespace.reset()
  const bound = namespace.bound()
  const lost = await load(payload, place, { codecs, bound, inPlace }).catch((cause: unknown) => {
    namespace.reset()
    throw invalidSnapshot("its parts do not fit together", cause)
  })
  const values = new Map<string, unknown>()
  // Objects that a codec made anew for guarded names: the guard holds for them too.
  const guarded: Record<string, unknown> = {}
  for (const [name, value] of payload.contents) {
    const current = bound.get(name)
    if (!current) lost.push({ name, reason: notInjected })
    else if (!current.isVariable) lost.push({ name, reason: "it was data, and is something else in this runtime" })
    // What could not be decoded is told already; the injected one stays.
    else if (isGuarded(current.value)) {
      if (value !== undefined && value !== realOf(current.value)) guarded[name] = value
    } else if (value !== undefined && (!inPlace || !fillInPlace(current.value, value))) values.set(name, value)
  }
  for (const [name, value] of payload.names) {
    const problem = nameProblem(name, new Set())
    if (problem === undefined) values.set(name, value)
    else lost.push({ name, reason: `the name ${problem}` })
  }
  namespace.load(values, payload.constants)
  namespace.update(guarded)
  namespace.noteHeld(payload.declarations.flatMap(({ known }) => known))
  namespace.noteHeld(payload.references.flatMap((each) => (each.type === "binding" ? [each.name] : [])))
  return withoutSameObjects([...snapshot.lost, ...lost], namespace.bindings, namespace.used)
}

const isGuarded = (value: unknown) => realOf(value) !== value

export interface LoadSnapshotOptions {
  codecs: Codecs
  /** Ends what cells have under way in the namespace as it is. */
  leave(): void
}

/** Takes a snapshot for another runtime in this process: it is given the same host objects, which must not change. */
export function takeCopy(place: CellPlace, codecs: Codecs): Snapshot {
  const snapshot = takeSnapshot(place, { codecs, maxBytes: Number.POSITIVE_INFINITY })
  copies.add(snapshot)
  return snapshot
}

const copies = new WeakSet<Snapshot>()

function readSnapshot({ version, language, data, hash }: Snapshot) {
  if (version !== 1) throw invalidSnapshot(`it is of version ${String(version)}, and this Karst knows version 1`)
  if (language !== "typescript") throw invalidSnapshot(`it is of a ${String(language)} runtime`)
  if (!(data instanceof Uint8Array)) throw invalidSnapshot("it has no bytes")
  if (hashOf(data) !== hash) throw invalidSnapshot("its bytes are not those its hash was made of")
  return checkPayload(unpack(data))
}

type DrawOnly = (names: ReadonlySet<string>) => Draft

function packed({ payload, deep }: Draft): Uint8Array | Error {
  try {
    return pack(payload, deep)
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

function sizesOf(whole: Draft, only: DrawOnly): { name: string; size: number }[] {
  return namesIn(whole)
    .map((name) => ({ name, size: pack(only(new Set([name])).payload).length }))
    .sort((one, other) => other.size - one.size)
}

/** The names with something that the engine refuses to write, and what it says. */
function unwritable(whole: Draft, only: DrawOnly, error: Error): [name: string, reason: string][] {
  const found = namesIn(whole).flatMap((name): [string, string][] => {
    const problem = packed(only(new Set([name])))
    return problem instanceof Error ? [[name, `it cannot be written: ${problem.message}`]] : []
  })
  if (found.length === 0) throw error
  return found
}

function namesIn({ payload }: Draft): string[] {
  return [...payload.names, ...payload.contents].map(([name]) => name)
}
