// Splits deeply nested objects. V8 serializes recursively, and its stack is enough for a few thousand levels. Linked
// lists and large graphs, where a path may pass through every object, exceed that.
import { types } from "node:util"
import type { Reference } from "./payload.ts"
import { asData, replaceEntry, type SnapshotWalk } from "./snapshot-walk.ts"
import { entriesOf, membersOf } from "./undo/container-contents.ts"
import { elementKey } from "./undo/own-properties.ts"

/** Writes objects that are nested too deeply as separate parts, and a reference in every place they occurred. */
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

/** Returns the objects to write separately, so that every path through the remaining objects stays below the limit. */
function findDeepParts(walk: SnapshotWalk): Set<object> {
  const parts = new Set<object>()
  const heights = new Map<object, number>()
  for (const component of connectedComponents(walk)) {
    // A path may pass through every object of a component.
    let height = component.length
    for (const node of component) {
      for (const [, next] of linksOf(walk, node)) {
        if (!parts.has(next)) height = Math.max(height, component.length + (heights.get(next) ?? 0))
      }
    }
    const isTooDeep = height > maxDepth
    for (const node of component) {
      heights.set(node, isTooDeep ? 0 : height)
      if (isTooDeep) parts.add(node)
    }
  }
  return parts
}

/** Returns the strongly connected components (Tarjan's algorithm), those without outgoing links first. */
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
      const component = open.splice(open.lastIndexOf(node))
      for (const each of component) isOpen.delete(each)
      found.push(component)
    }
  }
  return found
}

/** Returns the visited objects that are written inside a container. */
function linksOf({ seen, replaced }: SnapshotWalk, container: object): [string | number, object][] {
  const encodings = replaced.get(container)
  return entriesIn(container).filter((entry): entry is [string | number, object] => {
    const [key, value] = entry
    return typeof value === "object" && value !== null && seen.has(value) && !encodings?.has(key)
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

// About a fifth of what V8 can write and read again.
const maxDepth = 300
