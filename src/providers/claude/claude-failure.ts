import type { ProviderErrorCode } from "../../core/errors.ts"
import { noUsage } from "../../core/usage.ts"
import type { TurnResult } from "../provider.ts"
import { providerFailure } from "../provider-failure.ts"

export const claudeNames = { provider: "claude", title: "Claude Code" }

/** What a turn that failed means, by its words and by the CLI's own code for what is behind it. */
export function claudeErrorCode(words: string, trouble: string | undefined): ProviderErrorCode | undefined {
  // The words of a turn that failed are the CLI's own, and no model's; where they are known they say more than its code.
  if (/^No conversation found/i.test(words)) return "session-not-found"
  if (/^(api error: )?request timed out/i.test(words.trim())) return "timeout"
  if (/unable to connect|ConnectionRefused|ECONN/i.test(words)) return "connection"
  return trouble === undefined ? undefined : claudeErrorCodes[trouble]
}

/** The codes of the CLI. */
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

/** It would try again for minutes, with the same key. */
export function rejectedKeyResult(status: number | undefined): TurnResult {
  const message = `the service does not accept the key${status === undefined ? "" : ` (${status})`}`
  return { usage: noUsage, failure: providerFailure({ ...claudeNames, message, code: "authentication", status }) }
}

export function toolDriftResult(what: string, version: string | undefined): TurnResult {
  const message =
    `${what}. Its version ${version ?? "(unknown)"} names its tools otherwise than Karst expects, so what is allowed cannot ` +
    'be kept. Install a version that Karst knows (docs/providers.md), update karst, or write permissions: "bypass"'
  return { usage: noUsage, failure: providerFailure({ ...claudeNames, message, code: "protocol" }) }
}
