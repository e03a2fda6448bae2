// Checks the options `limits` (of agents, coding CLIs and the engine, not of runtimes) and `price`.
import type { Limits } from "../agent.ts"
import type { Price } from "../usage.ts"
import { mustBe, mustBeLimit, mustBeOneOf, mustBeOptions, mustBeRecordOf, type OptionChecks } from "./check-options.ts"

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

export const mustBePrice = mustBeOptions<Price>({
  input: mustBeAmount,
  output: mustBeAmount,
  cacheRead: mustBeAmount,
  cacheWrite: mustBeAmount,
})
