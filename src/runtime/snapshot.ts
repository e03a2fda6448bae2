import { nameProblem } from "./bindings/binding-names.ts"
import { dropSameObjects, injectedObjects, lostObjectState, notInjectedReason } from "./bindings/used-objects.ts"
import type { CellContext } from "./js/execute-cell.ts"
import type { Namespace } from "./js/namespace.ts"
import { unwrapObjectProxy } from "./js/proxies/function-proxy.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "./runtime.ts"
import type { Codecs } from "./snapshot/codec.ts"
import { fillInPlace } from "./snapshot/fill-in-place.ts"
import { checkPayload, droppedNames, type Payload, withoutNames } from "./snapshot/payload.ts"
import { restorePayload } from "./snapshot/restore-payload.ts"
import { decodeSnapshot, encodeSnapshot, hashOf, invalidSnapshot } from "./snapshot/snapshot-bytes.ts"
import {
  type BaseImage,
  type Changes,
  changesSince,
  createBaseImage,
  type SharingGroup,
} from "./snapshot/snapshot-changes.ts"
import { createDraft, type Draft } from "./snapshot/snapshot-draft.ts"

export interface TakeSnapshotOptions {
  codecs: Codecs
  /** The largest names are left out of what would be larger. */
  maxBytes: number
  /** The hash of an earlier snapshot: where `base` is that one, only what has changed since may be written. */
  since?: string | undefined
  /** The last whole snapshot that was taken with `since`; brought up to date here. */
  base?: { last?: FullSnapshot | undefined } | undefined
}

/** A whole snapshot, and the objects it was taken of. */
export interface FullSnapshot {
  hash: string
  size: number
  image: BaseImage
}

/** Writes down everything in a namespace that can be kept. Nothing of it is changed, and but for codecs none of its code
 *  runs: accessors are not called, proxies not entered. */
export function takeSnapshot({ namespace }: CellContext, options: TakeSnapshotOptions): RuntimeSnapshot {
  const { codecs, maxBytes, since, base } = options
  const changes = base?.last && base.last.hash === since ? takeChanges(namespace, base.last, options) : undefined
  if (changes) return changes
  const { data, lost, excluded: left, isComparable: isOpen } = writeNamespace(namespace, { codecs, maxBytes })
  const hash = hashOf(data)
  if (base && since !== undefined) {
    base.last = isOpen
      ? { hash, size: data.length, image: createBaseImage(namespace, { codecs, excluded: left }) }
      : undefined
  }
  return { version: 1, language: "typescript", data, hash, lost }
}

/** What has changed since a whole snapshot; undefined where another whole one is to be taken. */
function takeChanges(
  namespace: Namespace,
  base: FullSnapshot,
  options: TakeSnapshotOptions,
): RuntimeSnapshot | undefined {
  const { codecs, maxBytes } = options
  const changes = changesSince(base.image, namespace)
  if (changes.isMostlyChanged) return undefined
  const taken = writeNamespace(namespace, { codecs, maxBytes: maxBytes - base.size, changes })
  if (!taken.isComparable || taken.data.length > Math.max(minRewriteBytes, base.size / 2)) return undefined
  const { data, lost } = taken
  return { version: 1, language: "typescript", data, hash: hashOf(data), lost, since: base.hash }
}

// Up to so many bytes, to write changes again and again costs no more than to write a whole snapshot.
const minRewriteBytes = 8_192

interface WriteOptions {
  codecs: Codecs
  maxBytes: number
  changes?: Changes
}

interface WrittenSnapshot {
  data: Uint8Array
  lost: RuntimeLoss[]
  /** The names that were left out. */
  excluded: Map<string, string | undefined>
  /** Whether the same names can be compared with later ones: nothing was cut, and nothing was too large. */
  isComparable: boolean
}

function writeNamespace(namespace: Namespace, { codecs, maxBytes, changes }: WriteOptions): WrittenSnapshot {
  const left = new Map<string, string | undefined>()
  const met = new Set<SharingGroup>()
  let cut = false
  let isOpen = true
  const onObject = (object: object) => {
    const group = changes?.unchangedGroup(object)
    if (group) met.add(group)
  }
  const drawn = (only: ReadonlySet<string> | undefined = changes?.names) =>
    createDraft(namespace, {
      codecs,
      excluded: left,
      splitDeep: cut,
      ...(only && { only }),
      ...(changes && { onObject }),
    })
  for (;;) {
    const whole = drawn()
    // Names that share an object are written together.
    if (changes && addSharedNames(changes, met, namespace)) continue
    const data = whole.incompleteInjected.size === 0 ? tryEncode(whole, changes) : undefined
    // What holds something that cannot be kept is bound again as a whole.
    if (!data) for (const [name, reason] of whole.incompleteInjected) left.set(name, reason)
    else if (data instanceof RangeError && !cut) cut = true
    else if (data instanceof Error) for (const [name, why] of unwritable(whole, drawn, data)) left.set(name, why)
    else {
      const sizes = data.length > maxBytes ? sizesOf(whole, drawn) : []
      if (sizes.length === 0) {
        const lost = [...whole.lost, ...lostUsedObjects(namespace, whole, changes)]
        return { data, lost, excluded: left, isComparable: isOpen && !cut }
      }
      isOpen = false
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
function lostUsedObjects({ bindings, used }: Namespace, whole: Draft, changes: Changes | undefined): RuntimeLoss[] {
  const reported = new Set(whole.lost.flatMap(({ name, path }) => (path === undefined ? [name] : [])))
  const kept = new Set(namesIn(whole))
  return injectedObjects(bindings)
    .filter(
      ({ name, value }) => used.has(value) && !kept.has(name) && !changes?.isStillValid(name) && !reported.has(name),
    )
    .map(lostObjectState)
}

function addSharedNames({ names, dropped }: Changes, met: Set<SharingGroup>, { scope }: Namespace): boolean {
  const { size } = names
  for (const name of [...met].flatMap((group) => group.names)) {
    if (names.has(name) || !Object.hasOwn(scope, name)) continue
    names.add(name)
    dropped.push(name)
  }
  met.clear()
  return names.size > size
}

/** Replaces a namespace by what a snapshot holds. Runs no code of it but declarations of functions and classes. A
 *  snapshot that is none, or whose bytes were changed, is an `AgentError`, and nothing has happened then. */
export async function loadSnapshot(
  snapshot: RuntimeSnapshot,
  place: CellContext,
  { codecs, endCells: leave }: LoadSnapshotOptions,
): Promise<RuntimeLoss[]> {
  const { namespace } = place
  const parts = readSnapshot(snapshot)
  const inPlace = !localCopies.has(snapshot)
  leave()
  namespace.reset()
  const bound = namespace.boundValues()
  const lost: RuntimeLoss[] = []
  for (const part of parts) {
    const missing = await restorePayload(part, place, { codecs, bound, inPlace }).catch((cause: unknown) => {
      namespace.reset()
      throw invalidSnapshot("its parts do not fit together", cause)
    })
    lost.push(...missing)
  }
  const values = new Map<string, unknown>()
  // Objects that a codec made anew for guarded names: the guard holds for them too.
  const guarded: Record<string, unknown> = {}
  for (const [name, value] of parts.flatMap(({ contents }) => contents)) {
    const current = bound.get(name)
    if (!current) lost.push({ name, reason: notInjectedReason })
    else if (!current.isVariable) lost.push({ name, reason: "it was data, and is something else in this runtime" })
    // What could not be decoded is told already; the injected one stays.
    else if (isGuarded(current.value)) {
      if (value !== undefined && value !== unwrapObjectProxy(current.value)) guarded[name] = value
    } else if (value !== undefined && (!inPlace || !fillInPlace(current.value, value))) values.set(name, value)
  }
  for (const [name, value] of parts.flatMap(({ names }) => names)) {
    const problem = nameProblem(name, new Set())
    if (problem === undefined) values.set(name, value)
    else lost.push({ name, reason: `the name ${problem}` })
  }
  namespace.loadCellNames(
    values,
    parts.flatMap(({ constants }) => constants),
  )
  namespace.update(guarded)
  for (const { declarations, references } of parts) {
    namespace.markHeldByCellValues(declarations.flatMap(({ known }) => known))
    namespace.markHeldByCellValues(references.flatMap((each) => (each.type === "binding" ? [each.name] : [])))
  }
  const earlier = (snapshot.changes ?? snapshot).lost
  return dropSameObjects([...earlier, ...lost], namespace.bindings, namespace.used)
}

const isGuarded = (value: unknown) => unwrapObjectProxy(value) !== value

export interface LoadSnapshotOptions {
  codecs: Codecs
  /** Ends what cells have under way in the namespace as it is. */
  endCells(): void
}

/** Takes a snapshot for another runtime in this process: it is given the same host objects, which must not change. */
export function takeLocalCopy(place: CellContext, codecs: Codecs): RuntimeSnapshot {
  const snapshot = takeSnapshot(place, { codecs, maxBytes: Number.POSITIVE_INFINITY })
  localCopies.add(snapshot)
  return snapshot
}

const localCopies = new WeakSet<RuntimeSnapshot>()

/** What a snapshot holds: a whole one, or the rest of that and what has changed since. */
function readSnapshot({ version, language, data, hash, since, changes }: RuntimeSnapshot): Payload[] {
  if (version !== 1) throw invalidSnapshot(`it is of version ${String(version)}, and this Karst knows version 1`)
  if (language !== "typescript") throw invalidSnapshot(`it is of a ${String(language)} runtime`)
  if (since !== undefined) {
    throw invalidSnapshot("it has only what changed since another one, which is restored with this one as `changes`")
  }
  const whole = checkPayload(readBytes(data, hash))
  if (!changes) return [whole]
  const changed = readBytes(changes.data, changes.hash)
  return [withoutNames(whole, droppedNames(changed)), checkPayload(changed)]
}

function readBytes(data: unknown, hash: string): unknown {
  if (!(data instanceof Uint8Array)) throw invalidSnapshot("it has no bytes")
  if (hashOf(data) !== hash) throw invalidSnapshot("its bytes are not those its hash was made of")
  return decodeSnapshot(data)
}

type DraftOnly = (names: ReadonlySet<string>) => Draft

function tryEncode({ payload, mayBeDeep: deep }: Draft, changes?: Changes): Uint8Array | Error {
  try {
    return encodeSnapshot(changes ? { ...payload, dropped: changes.dropped } : payload, deep)
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

function sizesOf(whole: Draft, only: DraftOnly): { name: string; size: number }[] {
  return namesIn(whole)
    .map((name) => ({ name, size: encodeSnapshot(only(new Set([name])).payload).length }))
    .sort((one, other) => other.size - one.size)
}

/** The names with something that the engine refuses to write, and what it says. */
function unwritable(whole: Draft, only: DraftOnly, error: Error): [name: string, reason: string][] {
  const found = namesIn(whole).flatMap((name): [string, string][] => {
    const problem = tryEncode(only(new Set([name])))
    return problem instanceof Error ? [[name, `it cannot be written: ${problem.message}`]] : []
  })
  if (found.length === 0) throw error
  return found
}

function namesIn({ payload }: Draft): string[] {
  return [...payload.names, ...payload.contents].map(([name]) => name)
}
