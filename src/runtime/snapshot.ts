// Takes and loads snapshots of a JavaScript namespace: full ones, and ones that hold only the changes since a full one.
import { nameProblem } from "./bindings/binding-names.ts"
import { dropSameObjects, injectedObjects, lostObjectState, notInjectedReason } from "./bindings/used-objects.ts"
import type { CellContext } from "./js/execute-cell.ts"
import type { Namespace } from "./js/namespace.ts"
import { unwrapObjectProxy } from "./js/proxies/function-proxy.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "./runtime.ts"
import { chooseInjectedData } from "./snapshot/choose-injected-data.ts"
import type { Codecs } from "./snapshot/codec.ts"
import { fillInPlace } from "./snapshot/fill-in-place.ts"
import { checkPayload, droppedNames, type Payload, withoutNames } from "./snapshot/payload.ts"
import { restorePayload } from "./snapshot/restore-payload.ts"
import { decodeSnapshot, encodeSnapshot, hashOf, invalidSnapshot } from "./snapshot/snapshot-bytes.ts"
import type { BaseImage, Changes, SharingGroup } from "./snapshot/snapshot-changes.ts"
import { changesSince, createBaseImage } from "./snapshot/snapshot-changes.ts"
import { createDraft, type SnapshotDraft } from "./snapshot/snapshot-draft.ts"

export interface TakeSnapshotOptions {
  codecs: Codecs
  /** If the snapshot would be larger, the largest names are left out. */
  maxBytes: number
  /** The hash of an earlier snapshot. If `base` is that snapshot, only the changes since then may be written. */
  since?: string | undefined
  /** The last full snapshot taken with `since`. Updated by `takeSnapshot`. */
  base?: { last?: FullSnapshot | undefined } | undefined
}

/** A full snapshot with an image of the objects it was taken from. */
export interface FullSnapshot {
  hash: string
  size: number
  image: BaseImage
}

/** Writes everything in a namespace that can be stored. Changes nothing in it, and runs none of its code except codecs:
 *  accessors are not called and proxies not entered. */
export function takeSnapshot({ namespace }: CellContext, options: TakeSnapshotOptions): RuntimeSnapshot {
  const { codecs, maxBytes, since, base } = options
  const changes = base?.last && base.last.hash === since ? takeChanges(namespace, base.last, options) : undefined
  if (changes) return changes
  const { data, lost, excluded, isComparable } = writeNamespace(namespace, { codecs, maxBytes })
  const hash = hashOf(data)
  if (base && since !== undefined) {
    base.last = isComparable
      ? { hash, size: data.length, image: createBaseImage(namespace, { codecs, excluded }) }
      : undefined
  }
  return { version: 1, language: "typescript", data, hash, lost }
}

/** Writes the changes since a full snapshot; returns undefined if a full snapshot should be taken instead. */
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

// Up to this size, writing the same changes repeatedly costs no more than a full snapshot.
const minRewriteBytes = 8_192

interface WriteOptions {
  codecs: Codecs
  maxBytes: number
  changes?: Changes
}

interface WrittenSnapshot {
  data: Uint8Array
  lost: RuntimeLoss[]
  excluded: Map<string, string | undefined>
  /** True if later namespaces can be compared with this snapshot: nothing was split, and nothing was too large. */
  isComparable: boolean
}

function writeNamespace(namespace: Namespace, { codecs, maxBytes, changes }: WriteOptions): WrittenSnapshot {
  const excluded = new Map<string, string | undefined>()
  const sharedGroups = new Set<SharingGroup>()
  const storedDigests = new Map<string, string>()
  let splitDeep = false
  let isComparable = true
  const onObject = (object: object) => {
    const group = changes?.unchangedGroup(object)
    if (group) sharedGroups.add(group)
  }
  const draftOf = (only: ReadonlySet<string> | undefined = changes?.names) =>
    createDraft(namespace, {
      codecs,
      excluded,
      storedDigests,
      splitDeep,
      ...(only && { only }),
      ...(changes && { onObject }),
    })
  for (;;) {
    const draft = draftOf()
    // Names that share an object are written together.
    if (changes && addSharedNames(changes, sharedGroups, namespace)) continue
    const data = draft.incompleteInjected.size === 0 ? tryEncode(draft, changes) : undefined
    // An injected value that is only partly storable is excluded as a whole; the host binds it again.
    if (!data) for (const [name, reason] of draft.incompleteInjected) excluded.set(name, reason)
    else if (data instanceof RangeError && !splitDeep) splitDeep = true
    else if (data instanceof Error) for (const [name, why] of unwritable(draft, draftOf, data)) excluded.set(name, why)
    else {
      const sizes = data.length > maxBytes ? sizesOf(draft, draftOf) : []
      if (sizes.length === 0) {
        const lost = [...draft.lost, ...lostUsedObjects(namespace, draft, changes)]
        return { data, lost, excluded, isComparable: isComparable && !splitDeep }
      }
      isComparable = false
      let excess = data.length - maxBytes
      for (const { name, size } of sizes) {
        if (excess <= 0) break
        excluded.set(name, `too large: of ${size} bytes, and a snapshot may have ${maxBytes}`)
        excess -= size
      }
    }
  }
}

/** Returns the injected objects that cells used and that the snapshot does not contain. */
function lostUsedObjects(
  { bindings, used }: Namespace,
  draft: SnapshotDraft,
  changes: Changes | undefined,
): RuntimeLoss[] {
  const reported = new Set(draft.lost.flatMap(({ name, path }) => (path === undefined ? [name] : [])))
  const stored = new Set(namesIn(draft))
  return injectedObjects(bindings)
    .filter(
      ({ name, value }) => used.has(value) && !stored.has(name) && !changes?.isStillValid(name) && !reported.has(name),
    )
    .map(lostObjectState)
}

function addSharedNames({ names, dropped }: Changes, sharedGroups: Set<SharingGroup>, { scope }: Namespace): boolean {
  const { size } = names
  for (const name of [...sharedGroups].flatMap((group) => group.names)) {
    if (names.has(name) || !Object.hasOwn(scope, name)) continue
    names.add(name)
    dropped.push(name)
  }
  sharedGroups.clear()
  return names.size > size
}

/** Replaces the contents of a namespace by those of a snapshot. Runs none of its code except declarations of functions
 *  and classes. Throws an `AgentError` and changes nothing if the snapshot is invalid or its bytes were changed. */
export async function loadSnapshot(
  snapshot: RuntimeSnapshot,
  context: CellContext,
  { codecs, endCells }: LoadSnapshotOptions,
): Promise<RuntimeLoss[]> {
  const { namespace } = context
  const parts = readSnapshot(snapshot)
  const inPlace = !snapshot.exact
  endCells()
  namespace.reset()
  const bound = namespace.boundValues()
  const lost: RuntimeLoss[] = []
  const copied = new Set<string>()
  for (const part of parts) {
    if (inPlace) lost.push(...chooseInjectedData(part, namespace, bound, copied))
    else for (const [name, digest] of part.injected) namespace.digests.set(name, digest)
    const isCopied = (name: string) => !inPlace || copied.has(name)
    const missing = await restorePayload(part, context, { codecs, bound, isCopied }).catch((cause: unknown) => {
      namespace.reset()
      throw invalidSnapshot("its parts do not fit together", cause)
    })
    lost.push(...missing)
  }
  const values = new Map<string, unknown>()
  // Objects that a codec created for guarded names: they are guarded as well.
  const guarded: Record<string, unknown> = {}
  for (const [name, value] of parts.flatMap(({ contents }) => contents)) {
    const current = bound.get(name)
    if (!current) lost.push({ name, reason: notInjectedReason })
    else if (!current.isVariable) lost.push({ name, reason: "it was data, and is something else in this runtime" })
    // If decoding failed, the loss is already reported and the injected object stays.
    else if (isGuarded(current.value)) {
      if (value !== undefined && value !== unwrapObjectProxy(current.value)) guarded[name] = value
    } else if (value !== undefined && (!inPlace || copied.has(name) || !fillInPlace(current.value, value)))
      values.set(name, value)
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
  /** Ends the cells that are still running in the current namespace. */
  endCells(): void
}

/** Takes a snapshot for another runtime in this process, whose load must not change the shared host objects. */
export function takeLocalCopy(context: CellContext, codecs: Codecs): RuntimeSnapshot {
  return { ...takeSnapshot(context, { codecs, maxBytes: Number.POSITIVE_INFINITY }), exact: true }
}

/** Returns the payloads of a snapshot: the full one, and the changes since then if there are any. */
function readSnapshot({ version, language, data, hash, since, changes }: RuntimeSnapshot): Payload[] {
  if (version !== 1) throw invalidSnapshot(`it is of version ${String(version)}, and this Karst knows version 1`)
  if (language !== "typescript") throw invalidSnapshot(`it is of a ${String(language)} runtime`)
  if (since !== undefined) {
    throw invalidSnapshot("it has only what changed since another one, which is restored with this one as `changes`")
  }
  const draft = checkPayload(readBytes(data, hash))
  if (!changes) return [draft]
  const changed = readBytes(changes.data, changes.hash)
  return [withoutNames(draft, droppedNames(changed)), checkPayload(changed)]
}

function readBytes(data: unknown, hash: string): unknown {
  if (!(data instanceof Uint8Array)) throw invalidSnapshot("it has no bytes")
  if (hashOf(data) !== hash) throw invalidSnapshot("its bytes are not those its hash was made of")
  return decodeSnapshot(data)
}

type DraftOnly = (names: ReadonlySet<string>) => SnapshotDraft

function tryEncode({ payload, mayBeDeep }: SnapshotDraft, changes?: Changes): Uint8Array | Error {
  try {
    return encodeSnapshot(changes ? { ...payload, dropped: changes.dropped } : payload, mayBeDeep)
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

function sizesOf(draft: SnapshotDraft, draftOnly: DraftOnly): { name: string; size: number }[] {
  return namesIn(draft)
    .map((name) => ({ name, size: encodeSnapshot(draftOnly(new Set([name])).payload).length }))
    .sort((one, other) => other.size - one.size)
}

/** Finds the names that V8 cannot serialize, with its error messages. Throws the error if there is none. */
function unwritable(draft: SnapshotDraft, draftOnly: DraftOnly, error: Error): [name: string, reason: string][] {
  const found = namesIn(draft).flatMap((name): [string, string][] => {
    const problem = tryEncode(draftOnly(new Set([name])))
    return problem instanceof Error ? [[name, `it cannot be written: ${problem.message}`]] : []
  })
  if (found.length === 0) throw error
  return found
}

function namesIn({ payload }: SnapshotDraft): string[] {
  return [...payload.names, ...payload.contents].map(([name]) => name)
}
