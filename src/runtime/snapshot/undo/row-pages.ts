// Captures objects of equal shape (rows of a table) side by side in pages. Many short arrays cost the garbage collector
// less than one long array or one array per row.
import { types } from "node:util"
import { isObject } from "../../../core/object.ts"
import { isOrdinaryProperty, ordinaryProperty, restoreProperties, sameKeys } from "./own-properties.ts"

export interface RowPage {
  targets: object[]
  /** The values of all rows, one after another. */
  values: unknown[]
  groups: RowGroup[]
}

/** Consecutive rows of one container with the same shape. */
interface RowGroup {
  shape: RowShape
  /** The trail position of the container. */
  parent: number
  count: number
}

export interface RowShape {
  prototype: object | null
  keys: readonly string[]
  extensible: boolean
  /** Why instances of this shape cannot be fully restored. */
  uncapturedReason: string | undefined
}

export interface FoundObject {
  target: object
  parent: number
}

export const otherShape = -1

export function createRowPage(): RowPage {
  return { targets: [], values: [], groups: [] }
}

export function isPageFull({ values }: RowPage): boolean {
  return values.length > 4000
}

/** Adds the values of an object to a page. Returns the number of objects among them. Adds nothing and returns
 *  `otherShape` if the object has another shape or properties that are not ordinary. */
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

export function truncateValues({ values }: RowPage, start: number): void {
  values.length = start
}

export function finishRow({ targets, groups }: RowPage, target: object, shape: RowShape, parent: number): void {
  targets.push(target)
  groups.push({ shape, parent, count: 1 })
}

/** Adds elements from `start` on while they are rows of a shape with only plain values and the page has room. Returns
 *  the position of the first element that was not added. */
export function addRows(
  page: RowPage,
  elements: readonly unknown[],
  start: number,
  shape: RowShape,
  parent: number,
): number {
  const { targets, values, groups } = page
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
  if (at > start) groups.push({ shape, parent, count: at - start })
  return at
}

/** Restores the rows that have changed. Returns those that could not be restored. */
export function restoreRowPage({ targets, values, groups }: RowPage): FoundObject[] {
  const failed: FoundObject[] = []
  let row = 0
  let start = 0
  for (const { shape, parent, count } of groups) {
    for (const end = row + count; row < end; row++) {
      const target = targets[row] as object
      if (!isUnchanged(target, shape, values, start) && !restoreRow(target, shape, values, start)) {
        failed.push({ target, parent })
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
