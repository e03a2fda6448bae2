// Builds values without parts (bigints, regular expressions, buffer views) from what another process sent.
import { ForgedMessage } from "../wire.ts"

/** The text is hexadecimal, because parsing decimal digits takes quadratic time. */
export function bigintFrom(text: string): bigint {
  const [, sign, digits] = /^(-?)([0-9a-f]+)$/.exec(text) ?? []
  if (digits === undefined || digits.length > maxDigits) throw new ForgedMessage("an invalid bigint")
  const size = BigInt(`0x${digits}`)
  return sign ? -size : size
}

export function regExpFrom(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags)
  } catch {
    throw new ForgedMessage("an invalid regular expression")
  }
}

export const specialNumbers = new Map<unknown, number>([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
])

// V8 has no longer bigints.
const maxDigits = 2 ** 28

type ViewMaker = new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView

const viewMakers: readonly ViewMaker[] = [
  ...[DataView, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
]
const views = new Map<unknown, ViewMaker>(viewMakers.map((make) => [make.name, make]))

/** `kind` is the name of the view's class. */
export function viewOf(kind: unknown, buffer: ArrayBuffer, offset: number, length: number): ArrayBufferView {
  const make = views.get(kind)
  if (!make) throw new ForgedMessage("a view of an unknown kind")
  try {
    return new make(buffer, offset, length)
  } catch {
    throw new ForgedMessage("a view beyond its buffer")
  }
}
