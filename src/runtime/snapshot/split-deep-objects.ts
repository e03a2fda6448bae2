import { types } from "node:util"
import type { Reference } from "./payload.ts"
import { asData, replaceEntry, type SnapshotWalk } from "./snapshot-walk.ts"
import { entriesOf, membersOf } from "./undo/container-contents.ts"
import { elementKey } from "./undo/own-properties.ts"

// The engine writes and reads what is in an object before it goes on with the next, and has a stack for some thousand
// objects inside each other. A list whose nodes hold the next one is deeper than that, and so is a net of objects: there
// the way through all of them counts.

/** Cuts what is nested too deeply into parts that are not: each is written by itself, and a reference stands in every
 *  place that it was in. */
export function splitDeepObjects(walk: SnapshotWalk, references: Reference[]): void {
  const parts = findDeepParts(walk)
  const numbers = new Map<object, number>()
  for (const part of parts) {
    const reference: Reference = { type: "part", value: {} }
    numbers.set(part, references.push(reference) - 1)
    walk.slots.push({ container: reference, key: "value", value: part, encoding: asData })
  }
  for (const container of walk.containers) {
    for (const [key, value] of linksOf(walk, container)) {
      const number = numbers.get(value)
      if (number !== undefined) replaceEntry(walk, container, key, number)
    }
  }
}

/** Objects to be cut off, so that no way through the others is longer than the limit, whichever is taken first. */
function findDeepParts(walk: SnapshotWalk): Set<object> {
  const parts = new Set<object>()
  const heights = new Map<object, number>()
  for (const ring of connectedComponents(walk)) {
    // In a ring, a way may lead through all of its objects.
    let height = ring.length
    for (const node of ring) {
      for (const [, next] of linksOf(walk, node)) {
        if (!parts.has(next)) height = Math.max(height, ring.length + (heights.get(next) ?? 0))
      }
    }
    const isTooDeep = height > maxDepth
    for (const node of ring) {
      heights.set(node, isTooDeep ? 0 : height)
      if (isTooDeep) parts.add(node)
    }
  }
  return parts
}

/** Objects that lead to each other, together, and before those that only lead to them. */
function connectedComponents(walk: SnapshotWalk): object[][] {
  const found: object[][] = []
  const order = new Map<object, number>()
  const lowest = new Map<object, number>()
  const open: object[] = []
  const isOpen = new Set<object>()
  const path: { node: object; links: Iterator<[string | number, object]> }[] = []
  const lower = (node: object, to: number) => lowest.set(node, Math.min(lowest.get(node) ?? to, to))

  const enter = (node: object) => {
    order.set(node, order.size)
    lower(node, order.size - 1)
    open.push(node)
    isOpen.add(node)
    path.push({ node, links: linksOf(walk, node).values() })
  }

  for (const start of walk.containers) {
    if (!order.has(start)) enter(start)
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const { node, links } = step
      const { done, value: link } = links.next()
      if (!done) {
        const [, next] = link
        const seen = order.get(next)
        if (seen === undefined) enter(next)
        else if (isOpen.has(next)) lower(node, seen)
        continue
      }
      path.pop()
      const low = lowest.get(node) ?? 0
      const above = path.at(-1)
      if (above) lower(above.node, low)
      if (low !== order.get(node)) continue
      const ring = open.splice(open.lastIndexOf(node))
      for (const each of ring) isOpen.delete(each)
      found.push(ring)
    }
  }
  return found
}

/** What an object holds that is written inside it and was looked into itself. */
function linksOf({ seen, replaced }: SnapshotWalk, container: object): [string | number, object][] {
  const verdicts = replaced.get(container)
  return entriesIn(container).filter((entry): entry is [string | number, object] => {
    const [key, value] = entry
    return typeof value === "object" && value !== null && seen.has(value) && !verdicts?.has(key)
  })
}

function entriesIn(container: object): [string | number, unknown][] {
  if (types.isMap(container)) return [...entriesOf(container).entries()]
  if (types.isSet(container)) return [...membersOf(container).entries()]
  if (ArrayBuffer.isView(container)) return []
  return Object.keys(container).map((key) => [
    Array.isArray(container) ? elementKey(key) : key,
    Object.getOwnPropertyDescriptor(container, key)?.value,
  ])
}

// Of what the engine can write, and read again, about a fifth.
const maxDepth = 300
