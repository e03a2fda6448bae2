// Results of failed turns of Claude Code, and its error codes.
import type { ProviderErrorCode } from "../../core/errors.ts"
import { noUsage } from "../../core/usage.ts"
import type { TurnResult } from "../provider.ts"
import { providerFailure } from "../provider-failure.ts"

export const claudeNames = { provider: "claude", title: "Claude Code" }

/** The error code of a failed turn, from its message and from the CLI's code for the failure of the service. */
export function claudeErrorCode(message: string, serviceError: string | undefined): ProviderErrorCode | undefined {
  // The message of a failed turn is from the CLI, never from a model. Known messages say more than the code.
  if (/^No conversation found/i.test(message)) return "session-not-found"
  if (/^(api error: )?request timed out/i.test(message.trim())) return "timeout"
  if (/unable to connect|ConnectionRefused|ECONN/i.test(message)) return "connection"
  return serviceError === undefined ? undefined : claudeErrorCodes[serviceError]
}

/** Our error codes by those of the CLI. */
export const claudeErrorCodes: Record<string, ProviderErrorCode> = {
  authentication_failed: "authentication",
  oauth_org_not_allowed: "authentication",
  billing_error: "billing",
  rate_limit: "rate-limited",
  overloaded: "overloaded",
  invalid_request: "invalid-request",
  model_not_found: "invalid-request",
  server_error: "server-error",
}

/** Ends the turn after a rejected key; the CLI would retry with the same key for minutes. */
export function rejectedKeyResult(status: number | undefined): TurnResult {
  const message = `the service does not accept the key${status === undefined ? "" : ` (${status})`}`
  return { usage: noUsage, failure: providerFailure({ ...claudeNames, message, code: "authentication", status }) }
}

/** Ends the turn if the CLI's tools are not those that were granted. */
export function toolDriftResult(problem: string, version: string | undefined): TurnResult {
  const message =
    `${problem}. Its version ${version ?? "(unknown)"} names its tools otherwise than Karst expects, so what is allowed cannot ` +
    'be kept. Install a version that Karst knows (docs/providers.md), update karst, or write permissions: "bypass"'
  return { usage: noUsage, failure: providerFailure({ ...claudeNames, message, code: "protocol" }) }
}
