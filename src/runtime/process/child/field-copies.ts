import type { Json } from "../../../core/json.ts"
import { digestOfWire } from "../../handles/codec/copy-digest.ts"
import { type EncodedValue, type Frame, isObject } from "../../handles/wire.ts"
import type { RunningCell } from "../../js/running-cell.ts"
import { haveSameContents } from "./same-contents.ts"

// Values that a cell reads as fields of host objects are copies. A cell that changes a copy probably means the field: when
// the cell ends, each copy is compared with what was read, and the result names those that differ.

export interface CopyOrigin {
  id: number
  path: readonly string[]
  /** The field, as a program would write it. */
  title: string
}

export interface FieldCopies {
  /** A cell has read a field. */
  recordRead(cell: RunningCell, origin: CopyOrigin, value: unknown, frame: Frame): void
  /** Whether a value is the copy of this very field. */
  isCopyOf(value: unknown, id: number, path: readonly string[]): boolean
  /** A copy is written back. Returns the digest of what was read, for the host to compare: empty while another assignment
   *  of the copy is on its way, undefined for a copy that is not compared. */
  beginWriteBack(value: unknown): string | undefined
  /** The host has made the assignment of a copy, and answered whether that replaced changes of its own. */
  finishWriteBack(cell: RunningCell, title: string, value: unknown, answer: unknown): void
  /** The values were sent to the host, which has them as they are now. */
  recordSent(cell: RunningCell, values: readonly unknown[]): void
}

/** `decode` decodes a value once more, without counting the handles in it; `encode` encodes one as it is now. */
export function createFieldCopies(
  decode: (json: Json, frame: Pick<Frame, "buffers" | "special">) => unknown,
  encode: (value: unknown) => EncodedValue,
): FieldCopies {
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
    // The text that was read is not kept longer than the cell.
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
    recordRead(cell, origin, value, frame) {
      if (typeof value !== "object" || value === null) return
      origins.set(value, origin)
      const noted = ofCell.get(cell) ?? { baselines: [], bytes: 0, unchecked: new Set<string>() }
      if (!ofCell.has(cell)) {
        ofCell.set(cell, noted)
        cell.endReports.push(() => report(cell, noted))
      }
      const size = frame.size ?? 0
      if (size > largestChecked || noted.bytes + size > mostChecked || noted.baselines.length >= mostCopies) {
        if (noted.unchecked.size < mostNamed) noted.unchecked.add(origin.title)
        return
      }
      noted.bytes += size
      const text = JSON.stringify(frame.message.v)
      noted.baselines.push({ value, text, frame, origin })
      digests.set(value, () => digestOfWire(text, frame.buffers))
    },
    isCopyOf(value, id, path) {
      const origin = typeof value === "object" && value !== null ? origins.get(value) : undefined
      return origin?.id === id && haveSameContents(origin.path, path)
    },
    beginWriteBack(value) {
      if (!isObject(value)) return undefined
      const known = digest(value)
      if (known !== undefined) digests.set(value, "")
      return known
    },
    finishWriteBack(cell, title, value, answer) {
      if (!Array.isArray(answer) || !isObject(value)) return
      const [wasChanged, now] = answer
      if (wasChanged) cell.hints.push(overwriteHint(title))
      digests.set(value, String(now))
    },
    recordSent(cell, values) {
      const noted = ofCell.get(cell)
      for (const value of noted?.unchecked.size ? values : []) {
        const origin = typeof value === "object" && value !== null ? origins.get(value) : undefined
        if (origin) noted?.unchecked.delete(origin.title)
      }
      for (const baseline of noted?.baselines.filter(({ value }) => values.includes(value)) ?? []) {
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
  /** Fields whose copies were too large. */
  unchecked: Set<string>
}

const largestChecked = 1024 * 1024
const mostChecked = 8 * 1024 * 1024
const mostCopies = 1_000
const mostNamed = 5
