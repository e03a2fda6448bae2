// Decides at a restore whether an injected name gets the program's data of now or the stored data.
import { types } from "node:util"
import { isObject } from "../../core/object.ts"
import type { BoundValue, Namespace } from "../js/namespace.ts"
import { unwrapObjectProxy } from "../js/proxies/function-proxy.ts"
import type { RuntimeLoss } from "../runtime.ts"
import { digestOf } from "./data-digest.ts"
import type { Payload } from "./payload.ts"
import { entriesOf, membersOf } from "./undo/container-contents.ts"

/** Applies this rule to each injected value of a payload whose digest is known:
 *  - No cell had changed it: the program's value of now stays as it is, and its stored data is not restored.
 *  - Cells had changed it, and the program has the same data as before: the stored data is restored.
 *  - Cells had changed it, and the program has other data now: the name gets the stored data as a copy and is added to
 *    `copied`, so that neither the work of the cells nor the program's own object is overwritten.
 *  Returns the names for which the program has other data. */
export function chooseInjectedData(
  payload: Payload,
  { digests }: Namespace,
  bound: ReadonlyMap<string, BoundValue>,
  copied: Set<string>,
): RuntimeLoss[] {
  const otherData: RuntimeLoss[] = []
  const unused = new Set<string>()
  const liveObjects = new Map<object, object>()
  const contents = new Map(payload.contents)
  for (const [name, injected, stored] of payload.injected) {
    const current = bound.get(name)
    if (!current?.isVariable) continue
    const value = unwrapObjectProxy(current.value)
    const now = digestOf(value)
    digests.set(name, now)
    if (now === stored || injected === stored) {
      unused.add(name)
      if (now === stored) addPairs(liveObjects, contents.get(name), value)
      else otherData.push({ name, reason: newDataReason, otherData: "new" })
    } else if (now !== injected) {
      copied.add(name)
      otherData.push({ name, reason: keptDataReason, otherData: "kept" })
    }
  }
  payload.contents = payload.contents.filter(([name]) => !unused.has(name))
  if (liveObjects.size > 0) replaceObjects(payload, liveObjects)
  return otherData
}

const newDataReason = "the program has new data for it"
const keptDataReason = "cells changed it, and the program has new data for it"

/** Pairs each object in the stored data with the object at the same place of the program's equal data. */
function addPairs(pairs: Map<object, object>, stored: unknown, live: unknown): void {
  const pending: [unknown, unknown][] = [[stored, live]]
  for (const [one, other] of pending) {
    if (!isObject(one) || !isObject(other) || pairs.has(one) || types.isProxy(other)) continue
    pairs.set(one, other)
    const parts = partsOf(one)
    const liveParts = partsOf(other)
    for (let at = 0; at < parts.length; at++) pending.push([parts[at], liveParts[at]])
  }
}

/** Replaces objects by their pairs wherever the rest of a payload contains them. Runs before prototypes and properties
 *  are restored: everything is plain data. */
function replaceObjects(payload: Payload, pairs: ReadonlyMap<object, object>): void {
  const { names, contents, references, fillings, properties, statics } = payload
  const seen = new Set<object>()
  const pending: object[] = [names, contents, references, fillings, properties, statics]
  const replaced = (part: unknown): unknown => {
    if (!isObject(part)) return part
    const live = pairs.get(part)
    if (live) return live
    pending.push(part)
    return part
  }
  for (const object of pending) {
    if (seen.has(object)) continue
    seen.add(object)
    const before = partsOf(object)
    const after = before.map(replaced)
    if (after.every((part, at) => part === before[at])) continue
    if (types.isMap(object)) {
      object.clear()
      for (let at = 0; at < after.length; at += 2) object.set(after[at], after[at + 1])
    } else if (types.isSet(object)) {
      object.clear()
      for (const part of after) object.add(part)
    } else Object.keys(object).forEach((key, at) => void Reflect.set(object, key, after[at]))
  }
}

function partsOf(object: object): unknown[] {
  if (types.isMap(object)) return entriesOf(object)
  if (types.isSet(object)) return membersOf(object)
  if (types.isProxy(object) || ArrayBuffer.isView(object)) return []
  return Object.keys(object).map((key): unknown => Object.getOwnPropertyDescriptor(object, key)?.value)
}
