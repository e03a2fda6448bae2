// Tracks copies of host fields that cells read. A cell that changes a copy probably means the field. When the cell
// ends, each copy is compared with the value that was read, and a hint names every copy that differs.
import type { Json } from "../../../core/json.ts"
import { isObject } from "../../../core/object.ts"
import { digestOfWire } from "../../handles/codec/copy-digest.ts"
import type { EncodedValue, Frame } from "../../handles/wire.ts"
import type { RunningCell } from "../../js/running-cell.ts"
import { haveSameContents } from "./same-contents.ts"

export interface CopyOrigin {
  id: number
  path: readonly string[]
  /** The field as an expression. */
  title: string
}

/** `decode` decodes a value again without counting its handles as received; `encode` encodes its current state. */
export function createFieldCopies(
  decode: (json: Json, frame: Pick<Frame, "buffers" | "special">) => unknown,
  encode: (value: unknown) => EncodedValue,
) {
  const origins = new WeakMap<object, CopyOrigin>()
  const ofCell = new WeakMap<RunningCell, CellCopies>()
  const digests = new WeakMap<object, string | (() => string)>()
  const digest = (value: object): string | undefined => {
    const known = digests.get(value)
    return typeof known === "function" ? known() : known
  }

  const report = (cell: RunningCell, { baselines, unchecked }: CellCopies) => {
    for (const { value, text, frame, origin } of baselines) {
      if (haveSameContents(decode(JSON.parse(text), frame), value)) continue
      const { title } = origin
      cell.hints.push(
        `${title} is a copy, and the cell changed only the copy. Write it back: ${title} = <the changed value>`,
      )
    }
    // After the cell only the digest is stored, not the text that was read.
    for (const { value } of baselines) {
      const known = digest(value)
      if (known !== undefined) digests.set(value, known)
    }
    for (const title of unchecked) {
      cell.hints.push(
        `${title} is a large copy: whether the cell changed it was not checked. Changes reach the host only by ${title} = <the value>`,
      )
    }
  }

  return {
    recordRead(cell: RunningCell, origin: CopyOrigin, value: unknown, frame: Frame): void {
      if (typeof value !== "object" || value === null) return
      origins.set(value, origin)
      const copies = ofCell.get(cell) ?? { baselines: [], bytes: 0, unchecked: new Set<string>() }
      if (!ofCell.has(cell)) {
        ofCell.set(cell, copies)
        cell.endReports.push(() => report(cell, copies))
      }
      const size = frame.size ?? 0
      if (size > maxComparedBytes || copies.bytes + size > maxComparedTotal || copies.baselines.length >= maxCopies) {
        if (copies.unchecked.size < maxNamedUnchecked) copies.unchecked.add(origin.title)
        return
      }
      copies.bytes += size
      const text = JSON.stringify(frame.message.v)
      copies.baselines.push({ value, text, frame, origin })
      digests.set(value, () => digestOfWire(text, frame.buffers))
    },
    /** Returns true if the value is a copy of this field. */
    isCopyOf(value: unknown, id: number, path: readonly string[]): boolean {
      const origin = typeof value === "object" && value !== null ? origins.get(value) : undefined
      return origin?.id === id && haveSameContents(origin.path, path)
    },
    /** Called when a cell assigns a copy to its field. Returns the digest of the value that was read, for the host
     *  to compare. It is empty while another assignment of the copy is pending, and undefined if the copy is not
     *  compared. */
    beginWriteBack(value: unknown): string | undefined {
      if (!isObject(value)) return undefined
      const known = digest(value)
      if (known !== undefined) digests.set(value, "")
      return known
    },
    /** Called with the host's answer to the assignment: whether it overwrote host changes, and the new digest. */
    finishWriteBack(cell: RunningCell, title: string, value: unknown, answer: unknown): void {
      if (!Array.isArray(answer) || !isObject(value)) return
      const [wasChanged, now] = answer
      if (wasChanged) cell.hints.push(overwriteHint(title))
      digests.set(value, String(now))
    },
    /** Called when values were sent to the host. Later changes are compared with the sent state. */
    recordSent(cell: RunningCell, values: readonly unknown[]): void {
      const copies = ofCell.get(cell)
      for (const value of copies?.unchecked.size ? values : []) {
        const origin = typeof value === "object" && value !== null ? origins.get(value) : undefined
        if (origin) copies?.unchecked.delete(origin.title)
      }
      for (const baseline of copies?.baselines.filter(({ value }) => values.includes(value)) ?? []) {
        const { json, buffers, special } = encode(baseline.value)
        Object.assign(baseline, { text: JSON.stringify(json), frame: { buffers, special } })
      }
    },
  }
}

function overwriteHint(title: string): string {
  return `${title} had changed on the host after the cell read it, and the assignment overwrote those changes. Read ${title} again right before changing it.`
}

interface CellCopies {
  baselines: { value: object; text: string; frame: Pick<Frame, "buffers" | "special">; origin: CopyOrigin }[]
  bytes: number
  /** Fields whose copies were too large to compare. */
  unchecked: Set<string>
}

const maxComparedBytes = 1024 * 1024
const maxComparedTotal = 8 * 1024 * 1024
const maxCopies = 1_000
const maxNamedUnchecked = 5
