import type { CellPlace } from "./cells/execute.ts"
import { nameProblem } from "./names.ts"
import type { Lost, Snapshot } from "./runtime.ts"
import type { Codecs } from "./snapshot/codec.ts"
import { type Draft, draft } from "./snapshot/draft.ts"
import { fillInPlace } from "./snapshot/fill-in-place.ts"
import { load } from "./snapshot/load.ts"
import { checkPayload } from "./snapshot/payload.ts"
import { hashOf, invalidSnapshot, pack, unpack } from "./snapshot/wire.ts"

export interface SnapshotOptions {
  codecs: Codecs
  /** The largest names are left out of what would be larger. */
  maxBytes: number
}

/** Writes down everything in a namespace that can be kept. Nothing of it is changed, and but for codecs none of its code
 *  runs: accessors are not called, proxies not entered. */
export function takeSnapshot({ namespace }: CellPlace, { codecs, maxBytes }: SnapshotOptions): Snapshot {
  const left = new Map<string, string>()
  for (;;) {
    const drawn = draft(namespace, codecs, left)
    if (drawn.rebound.size > 0) {
      for (const name of drawn.rebound) left.set(name, boundAgain)
      continue
    }
    const data = pack(drawn.payload)
    const sizes = data.length > maxBytes ? sizesOf(drawn, (names) => draft(namespace, codecs, left, names)) : []
    if (sizes.length === 0) return { version: 1, language: "typescript", data, hash: hashOf(data), lost: drawn.lost }
    let excess = data.length - maxBytes
    for (const { name, size } of sizes) {
      if (excess <= 0) break
      left.set(name, `too large: of ${size} bytes, and a snapshot may have ${maxBytes}`)
      excess -= size
    }
  }
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
  for (const [name, value] of payload.contents) {
    const current = bound.get(name)
    if (!current) lost.push({ name, reason: "it was injected, and is not in this runtime" })
    else if (!inPlace || !fillInPlace(current.value, value)) values.set(name, value)
  }
  for (const [name, value] of payload.names) {
    const problem = nameProblem(name, new Set())
    if (problem === undefined) values.set(name, value)
    else lost.push({ name, reason: `the name ${problem}` })
  }
  namespace.load(values, payload.constants)
  return [...snapshot.lost, ...lost]
}

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
const boundAgain =
  "it holds what no snapshot keeps, so it is bound again as it was given: what cells changed in it is lost"

function readSnapshot({ version, language, data, hash }: Snapshot) {
  if (version !== 1) throw invalidSnapshot(`it is of version ${String(version)}, and this Karst knows version 1`)
  if (language !== "typescript") throw invalidSnapshot(`it is of a ${String(language)} runtime`)
  if (!(data instanceof Uint8Array)) throw invalidSnapshot("it has no bytes")
  if (hashOf(data) !== hash) throw invalidSnapshot("its bytes are not those its hash was made of")
  return checkPayload(unpack(data))
}

function sizesOf({ payload }: Draft, only: (names: ReadonlySet<string>) => Draft): { name: string; size: number }[] {
  return [...payload.names, ...payload.contents]
    .map(([name]) => ({ name, size: pack(only(new Set([name])).payload).length }))
    .sort((one, other) => other.size - one.size)
}
