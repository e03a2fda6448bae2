// Checks the options that all coding-CLI agents share.
import {
  anything,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeEither,
  mustBeFunction,
  mustBeObject,
  mustBeOneOf,
  mustBeOptions,
  mustBePositive,
  mustBeText,
  mustBeTextList,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import type { CliOptions } from "./options.ts"

// Options marked `anything` are checked where they are resolved.
export const cliChecks: OptionChecks<CliOptions> = {
  name: mustBeText,
  description: mustBeText,
  model: mustBeText,
  reasoning: mustBeText,
  instructions: mustBeText,
  systemPrompt: mustBeText,
  cwd: mustBeText,
  allow: anything,
  tools: anything,
  mcpServers: mustBeObject,
  userServers: mustBeTextList,
  runtime: anything,
  env: isEnvironment,
  permissions: anything,
  approver: anything,
  approvalTimeoutMs: mustBePositive,
  hooks: anything,
  cellTimeoutMs: mustBeAtLeast(1),
  typeGate: mustBeOneOf("off", "hint", "block"),
  transaction: mustBeEither("true, false or { check }", mustBeBoolean, mustBeObject),
  limits: mustBeOptions(limitChecks),
  program: mustBeText,
  timeoutMs: mustBeAtLeast(1),
  idleTimeoutMs: mustBeAtLeast(1),
  retries: mustBeAtLeast(0),
  autoWait: mustBeEither("true, false or { maxMs, accept, clock }", mustBeBoolean, mustBeObject),
  logger: mustBeObject,
  metadata: mustBeObject,
  trajectoryPath: mustBeText,
  onEvent: mustBeFunction,
}

// Does not show the value: it may be a secret.
function isEnvironment(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? undefined : "is not an object of variables"
}
