import type { Limits } from "./agent.ts"
import { isFrom, isOneOf, isRecordOf, type OptionChecks } from "./check-options.ts"

/** The limits of any run. */
export const limitChecks: OptionChecks<Limits> = {
  cycles: isFrom(0),
  tokens: isFrom(0),
  uncachedTokens: isFrom(0),
  costUsd: isFrom(0),
  timeMs: isFrom(0),
  unknownUsage: isOneOf("continue", "stop"),
  depth: isFrom(0),
  calls: isFrom(0),
  callsOf: isRecordOf(isFrom(0)),
}
