import { isDeepStrictEqual } from "node:util"
import type { Json } from "../../core/json.ts"
import type { RunningCell } from "../cells/running-cell.ts"
import type { Encoded, Frame } from "../handles/wire.ts"

// Values that a cell reads as fields of host objects are copies. A cell that changes a copy probably means the field: when
// the cell ends, each copy is compared with what was read, and the result names those that differ.

export interface Origin {
  id: number
  path: readonly string[]
  /** The field, as a program would write it. */
  title: string
}

export interface Copies {
  /** A cell has read a field. */
  note(cell: RunningCell, origin: Origin, value: unknown, frame: Frame): void
  /** Whether a value is the copy of this very field. */
  isCopyOf(value: unknown, id: number, path: readonly string[]): boolean
  /** The values were sent to the host, which has them as they are now. */
  sent(cell: RunningCell, values: readonly unknown[]): void
}

/** `decode` decodes a value once more, without counting the handles in it; `encode` encodes one as it is now. */
export function createCopies(
  decode: (json: Json, frame: Pick<Frame, "buffers" | "special">) => unknown,
  encode: (value: unknown) => Encoded,
): Copies {
  const origins = new WeakMap<object, Origin>()
  const ofCell = new WeakMap<RunningCell, Noted>()

  const report = (cell: RunningCell, { baselines, unchecked }: Noted) => {
    for (const { value, text, frame, origin } of baselines) {
      if (isDeepStrictEqual(decode(JSON.parse(text), frame), value)) continue
      const { title } = origin
      cell.hints.push(
        `${title} is a copy, and the cell changed only the copy. Write it back: ${title} = <the changed value>`,
      )
    }
    for (const title of unchecked) {
      cell.hints.push(
        `${title} is a large copy: whether the cell changed it was not checked. Changes reach the host only by ${title} = <the value>`,
      )
    }
  }

  return {
    note(cell, origin, value, frame) {
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
      noted.baselines.push({ value, text: JSON.stringify(frame.message.v), frame, origin })
    },
    isCopyOf(value, id, path) {
      const origin = typeof value === "object" && value !== null ? origins.get(value) : undefined
      return origin?.id === id && isDeepStrictEqual(origin.path, path)
    },
    sent(cell, values) {
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

interface Noted {
  baselines: { value: object; text: string; frame: Pick<Frame, "buffers" | "special">; origin: Origin }[]
  bytes: number
  /** Fields whose copies were too large. */
  unchecked: Set<string>
}

const largestChecked = 1024 * 1024
const mostChecked = 8 * 1024 * 1024
const mostCopies = 1_000
const mostNamed = 5
