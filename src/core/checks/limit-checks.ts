// Checks the option `limits` of agents, coding CLIs and the engine (not the limits of runtimes).
import type { Limits } from "../agent.ts"
import { mustBeAtLeast, mustBeOneOf, mustBeRecordOf, type OptionChecks } from "./check-options.ts"

export const limitChecks: OptionChecks<Limits> = {
  cycles: mustBeAtLeast(0),
  tokens: mustBeAtLeast(0),
  uncachedTokens: mustBeAtLeast(0),
  costUsd: mustBeAtLeast(0),
  timeMs: mustBeAtLeast(0),
  unknownUsage: mustBeOneOf("continue", "stop"),
  depth: mustBeAtLeast(0),
  calls: mustBeAtLeast(0),
  // Per name: `tool`, `binding` or `binding.method`.
  callsOf: mustBeRecordOf(mustBeAtLeast(0)),
}
