// Checks the options that all coding-CLI agents share.
import * as check from "../core/checks/check-options.ts"
import { limitChecks, mustBePrice } from "../core/checks/limit-checks.ts"
import { mustBeArchive } from "../sessions/archive-source-check.ts"
import type { CliOptions } from "./options.ts"
import type { TierModels } from "./tiers.ts"
import { mustBeAutoWait } from "./usage-limits.ts"

/** The checks of the models of one CLI. */
export const tierChecks: check.OptionChecks<TierModels> = { strongest: check.mustBeText, fast: check.mustBeText }

// Options marked `anything` are checked where they are resolved.
export const cliChecks: check.OptionChecks<CliOptions> = {
  name: check.mustBeText,
  description: check.mustBeText,
  model: check.mustBeText,
  tiers: check.mustBeRecordOf(check.mustBeOptions(tierChecks)),
  prices: check.mustBeRecordOf(mustBePrice),
  reasoning: check.mustBeText,
  instructions: check.mustBeText,
  systemPrompt: check.mustBeText,
  cwd: check.mustBeText,
  allow: check.anything,
  tools: check.anything,
  mcpServers: check.mustBeObject,
  userServers: check.mustBeTextList,
  runtime: check.anything,
  env: isEnvironment,
  permissions: check.anything,
  approver: check.anything,
  approvalTimeoutMs: check.mustBeLimit(1),
  hooks: check.anything,
  cellTimeoutMs: check.mustBeLimit(1),
  typeGate: check.mustBeOneOf("off", "hint", "block"),
  transaction: check.mustBeBooleanOrOptions({ check: check.mustBeFunction }),
  limits: check.mustBeOptions(limitChecks),
  program: check.mustBeText,
  timeoutMs: check.mustBeLimit(1),
  idleTimeoutMs: check.mustBeLimit(1),
  maxRetries: check.mustBeLimit(0),
  autoWait: mustBeAutoWait,
  logger: check.mustBeObject,
  metadata: check.mustBeMetadata,
  trajectoryPath: check.mustBeText,
  onEvent: check.mustBeFunction,
}

export const cliSessionChecks = {
  ...cliChecks,
  signal: check.mustBeSignal,
  archive: mustBeArchive,
  id: check.mustBeText,
  resume: check.mustBeText,
  recording: check.mustBeBoolean,
  keepPrompt: check.mustBeBoolean,
}

// Does not show the value: it may be a secret.
function isEnvironment(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? undefined : "is not an object of variables"
}
