import {
  anything,
  isAboveZero,
  isEither,
  isFlag,
  isFrom,
  isFunction,
  isOneOf,
  isOptions,
  isRecord,
  isText,
  isTexts,
  type OptionChecks,
} from "../core/check-options.ts"
import { limitChecks } from "../core/limit-checks.ts"
import type { CliOptions } from "./options.ts"

// `anything`: the value is checked where it is resolved.
export const cliChecks: OptionChecks<CliOptions> = {
  name: isText,
  description: isText,
  model: isText,
  reasoning: isText,
  instructions: isText,
  systemPrompt: isText,
  cwd: isText,
  allow: anything,
  tools: anything,
  mcpServers: isRecord,
  userServers: isTexts,
  runtime: anything,
  env: isEnvironment,
  permissions: anything,
  approver: anything,
  approve: isFunction,
  approvalTimeoutMs: isAboveZero,
  hooks: anything,
  cellTimeoutMs: isFrom(1),
  typeGate: isOneOf("off", "hint", "block"),
  transaction: isEither("true, false or { check }", isFlag, isRecord),
  limits: isOptions(limitChecks),
  program: isText,
  timeoutMs: isFrom(1),
  idleTimeoutMs: isFrom(1),
  retries: isFrom(0),
  autoWait: isEither("true, false or { maxMs, accept, clock }", isFlag, isRecord),
  logger: isRecord,
  metadata: isRecord,
  trajectoryPath: isText,
  onEvent: isFunction,
}

// Values may be secrets, so none is shown.
function isEnvironment(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? undefined : "is not an object of variables"
}
