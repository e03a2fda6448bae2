// Checks the option `limits` of agents, coding CLIs and the engine (not the limits of runtimes).
import type { Limits } from "../agent.ts"
import { mustBe, mustBeLimit, mustBeOneOf, mustBeRecordOf, type OptionChecks } from "./check-options.ts"

export const limitChecks: OptionChecks<Limits> = {
  cycles: mustBeLimit(0),
  tokens: mustBeLimit(0),
  uncachedTokens: mustBeLimit(0),
  costUsd: mustBe((value) => typeof value === "number" && value >= 0, "a number of 0 or more"),
  timeMs: mustBeLimit(0),
  unknownUsage: mustBeOneOf("continue", "stop"),
  depth: mustBeLimit(0),
  calls: mustBeLimit(0),
  // Per name: `tool`, `binding` or `binding.method`.
  callsByName: mustBeRecordOf(mustBeLimit(0)),
}
