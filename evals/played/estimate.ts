// What a run with a real model will probably cost, from the tokens that the oracle needs for the same tasks.
import type { Price } from "karst/models"
import type { TaskRecord } from "../harness/suite.ts"

/** Models read, think and repair more than the oracle does. */
const factor = 3

export interface Estimate {
  conversations: number
  prompt: number
  completion: number
  /** In US dollars; undefined if the price of the model is unknown. */
  cost?: number | undefined
}

/** `styles` are those that the model plays. If the oracle has the same styles, they are estimated one by one; otherwise
 *  by the mean of the oracle's. Records with `oracleOnly` are of conversations that no model plays. */
export function estimateRun(all: readonly TaskRecord[], styles: readonly string[], price?: Price): Estimate {
  const playable = all.filter(({ oracleOnly }) => oracleOnly !== true)
  const own = playable.filter(({ style }) => styles.includes(style))
  const records = own.length > 0 ? own : playable
  const tasks = new Set(records.map(({ task }) => task)).size
  const share = (factor * styles.length * tasks) / Math.max(1, records.length)
  const sum = (figure: string) => records.reduce((total, record) => total + Number(record[figure] ?? 0), 0) * share
  const [prompt, completion] = [sum("prompt"), sum("completion")]
  const cost = price && (prompt * price.input + completion * price.output) / 1e6
  return { conversations: tasks * styles.length, prompt, completion, cost }
}

export function estimateText(model: string, { conversations, prompt, completion, cost }: Estimate): string {
  const count = (value: number) => Math.round(value).toLocaleString("en")
  const price = cost === undefined ? "the price of this model is not known" : `about $${cost.toFixed(2)}`
  return (
    `${conversations} conversations with ${model}: ${factor} times the tokens of the oracle are ${count(prompt)} prompt ` +
    `and ${count(completion)} completion tokens, without a cache: ${price}. The real cost can be higher.`
  )
}
