// `finish(text)` of a cell: records the text with which the run ends if the cell succeeds. It does not end the cell.
import { isThenable } from "../../bindings/binding-names.ts"
import { finishTextProblem } from "../../finish-text.ts"
import { showValue } from "../../show/show-value.ts"
import { cleanStackText } from "../cell-errors.ts"
import { unwrapObjectProxy } from "../proxies/function-proxy.ts"
import { cellStorage } from "../running-cell.ts"

export function finish(...values: readonly unknown[]): void {
  const cell = cellStorage.getStore()
  cell?.throwIfStopped()
  if (!cell || cell.hasEnded) throw new Error("finish() was called after its cell had ended. Await what calls it.")
  if (!cell.allowsFinish) throw new Error("finish() has no effect here: this cell belongs to no run of an agent.")
  if (values.length !== 1) throw new TypeError(`finish(text) takes one value, not ${values.length}.`)
  if (cell.finishText !== undefined) {
    throw new Error("finish() was already called in this cell. It does not end the cell: call it once, at the end.")
  }
  const text = textOf(unwrapObjectProxy(values[0]))
  const problem = finishTextProblem(text)
  if (problem !== undefined) throw new TypeError(`finish(text): ${problem}`)
  cell.finishText = text
}

/** A text as it is, any other value as the output of a cell shows it. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value
  if (value === undefined || value === null) throw new TypeError(`finish(text) takes the answer, not ${value}.`)
  if (isThenable(value)) throw new TypeError("finish(text) got a Promise: await it first.")
  const { text, cut } = showValue(value, maxShownChars)
  if (!cut) return cleanStackText(text)
  throw new TypeError(
    "finish(text): the value is too large to be shown whole. Pass a text, such as JSON.stringify(value).",
  )
}

const maxShownChars = 100_000
