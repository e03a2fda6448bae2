// Checks the options `limits` (of agents, coding CLIs and the engine, not of runtimes) and `price`.
import type { Limits } from "../agent.ts"
import { isRecord } from "../object.ts"
import type { Price } from "../usage.ts"
import {
  mustBe,
  mustBeLimit,
  mustBeOneOf,
  mustBeOptions,
  mustBeRecordOf,
  type OptionCheck,
  type OptionChecks,
} from "./check-options.ts"

const mustBeAmount = mustBe((value) => typeof value === "number" && value >= 0, "a number of 0 or more")

export const limitChecks: OptionChecks<Limits> = {
  cycles: mustBeLimit(0),
  tokens: mustBeLimit(0),
  uncachedTokens: mustBeLimit(0),
  costUsd: mustBeAmount,
  timeMs: mustBeLimit(0),
  unknownUsage: mustBeOneOf("continue", "stop"),
  depth: mustBeLimit(0),
  calls: mustBeLimit(0),
  // Per name: `tool`, `binding` or `binding.method`.
  callsByName: mustBeRecordOf(mustBeLimit(0)),
}

const priceChecks = mustBeOptions<Price>({
  input: mustBeAmount,
  output: mustBeAmount,
  cacheRead: mustBeAmount,
  cacheWrite: mustBeAmount,
})

/** Without `input` or `output`, costs would be no numbers. */
export const mustBePrice: OptionCheck = (value, path) => {
  const problems = priceChecks(value, path)
  if (problems || !isRecord(value)) return problems
  const missing = ["input", "output"].find((name) => value[name] === undefined)
  return missing && `lacks \`${missing}\`, in US dollars per million tokens`
}
