import { types } from "node:util"
import { isObject } from "../heap/object-kinds.ts"
import { isOrdinaryProperty, ordinaryProperty, restoreProperties, sameKeys } from "./own-properties.ts"

// Most objects are rows of some table. They are remembered side by side, a page at a time: many short arrays cost the
// collector less than a long one or than one for each row.

export interface RowPage {
  targets: object[]
  /** The values of all of them, one after another. */
  values: unknown[]
  groups: RowGroup[]
}

/** Rows that follow each other in the same container and look the same. */
interface RowGroup {
  shape: RowShape
  /** Where on the trail they were found. */
  above: number
  count: number
}

/** What rows have in common. */
export interface RowShape {
  prototype: object | null
  keys: readonly string[]
  extensible: boolean
  /** Why instances of this shape cannot be put back wholly. */
  uncapturedReason: string | undefined
}

export interface FoundObject {
  target: object
  above: number
}

export const otherShape = -1

export function createRowPage(): RowPage {
  return { targets: [], values: [], groups: [] }
}

export function isPageFull({ values }: RowPage): boolean {
  return values.length > 4000
}

/** Adds the values of an object of a shape to a page. Gives how many of them are objects; or -1, and adds nothing, when
 *  it has another shape or properties that assignment does not make. */
export function addRow({ values }: RowPage, value: object, shape: RowShape): number {
  const { keys, extensible, prototype } = shape
  if (Object.getPrototypeOf(value) !== prototype || Object.isExtensible(value) !== extensible) return otherShape
  const start = values.length
  let inner = 0
  let at = 0
  for (const key in value) {
    const property = key === keys[at++] ? Object.getOwnPropertyDescriptor(value, key) : undefined
    if (!isOrdinaryProperty(property)) {
      values.length = start
      return otherShape
    }
    const held: unknown = property.value
    values.push(held)
    if (isObject(held)) inner++
  }
  if (at === keys.length && Object.getOwnPropertyNames(value).length === at && !hasSymbols(value)) return inner
  values.length = start
  return otherShape
}

/** Takes values from a page again, down to where they start. */
export function truncateValues({ values }: RowPage, start: number): void {
  values.length = start
}

export function finishRow({ targets, groups: runs }: RowPage, target: object, shape: RowShape, above: number): void {
  targets.push(target)
  runs.push({ shape, above, count: 1 })
}

/** Adds the elements of an array from `start` on for as long as they are rows of a shape that hold nothing but plain
 *  values, and the page has room. Gives the position of the first that was not added. */
export function addRows(
  page: RowPage,
  elements: readonly unknown[],
  start: number,
  shape: RowShape,
  above: number,
): number {
  const { targets, values, groups: runs } = page
  let at = start
  for (; at < elements.length && !isPageFull(page); at++) {
    const element = elements[at]
    if (typeof element !== "object" || element === null || types.isProxy(element)) break
    const before = values.length
    const inner = addRow(page, element, shape)
    if (inner > 0) values.length = before
    if (inner !== 0) break
    targets.push(element)
  }
  if (at > start) runs.push({ shape, above, count: at - start })
  return at
}

/** Writes back what has changed. Gives what could not be put back. */
export function restoreRowPage({ targets, values, groups: runs }: RowPage): FoundObject[] {
  const failed: FoundObject[] = []
  let row = 0
  let start = 0
  for (const { shape, above, count } of runs) {
    for (const end = row + count; row < end; row++) {
      const target = targets[row] as object
      if (!isUnchanged(target, shape, values, start) && !restoreRow(target, shape, values, start)) {
        failed.push({ target, above })
      }
      start += shape.keys.length
    }
  }
  return failed
}

function isUnchanged(target: object, shape: RowShape, values: readonly unknown[], start: number): boolean {
  if (Object.getPrototypeOf(target) !== shape.prototype) return false
  if (Object.isExtensible(target) !== shape.extensible) return false
  const { keys } = shape
  if (!sameKeys(Object.getOwnPropertyNames(target), keys)) return false
  if (hasSymbols(target)) return false
  for (let at = 0; at < keys.length; at++) {
    const property = Object.getOwnPropertyDescriptor(target, keys[at] as string)
    if (!isOrdinaryProperty(property) || !Object.is(property.value, values[start + at])) return false
  }
  return true
}

function restoreRow(target: object, shape: RowShape, values: readonly unknown[], start: number): boolean {
  const properties = shape.keys.map((_, at) => ordinaryProperty(values[start + at]))
  return restoreProperties(target, { ...shape, properties })
}

function hasSymbols(value: object): boolean {
  return Object.getOwnPropertySymbols(value).length > 0
}
