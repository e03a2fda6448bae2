// Option checks of the MCP client and server.
import * as check from "../core/checks/check-options.ts"
import { workspaceMethods } from "../workspaces/workspace.ts"
import type { McpClientOptions, ServeMcpOptions, ServeOptions } from "./mcp-types.ts"

export const clientChecks: check.OptionChecks<McpClientOptions> = {
  name: check.mustBeText,
  prefix: check.mustBeText,
  only: check.mustBeFunction,
  options: check.mustBeEither(
    "an object of options or a function that gives one",
    check.mustBeObject,
    check.mustBeFunction,
  ),
  auth: check.mustBeEither("{ token } or a provider of the MCP client", check.mustBeObject),
  authorized: check.mustBeFunction,
  timeoutMs: check.mustBePositive,
  signal: check.mustBeSignal,
  onChange: check.mustBeFunction,
  onWarning: check.mustBeFunction,
}

// `anything`: checked where the value is used.
export const serveChecks: check.OptionChecks<ServeOptions> = {
  name: check.mustBeText,
  version: check.mustBeText,
  tools: check.anything,
  runtime: check.mustBeObject,
  instructions: check.mustBeText,
  approver: check.mustBeEither('a function or "client"', check.mustBeFunction, check.mustBeOneOf("client")),
  approvalTimeoutMs: check.mustBePositive,
  hooks: check.anything,
  limits: check.mustBeOptions({ calls: check.mustBeAtLeast(0), callsOf: check.mustBeRecordOf(check.mustBeAtLeast(0)) }),
  workspace: check.mustImplement(workspaceMethods, "a workspace"),
  onEvent: check.mustBeFunction,
  host: check.mustBeFunction,
  answerWithinMs: check.mustBePositive,
  typeGate: check.mustBeOneOf("off", "hint", "block"),
  transaction: check.anything,
  cellTimeoutMs: check.mustBePositive,
  maxOutputChars: check.mustBeAtLeast(0),
}

export const serveMcpChecks: check.OptionChecks<ServeMcpOptions> = {
  ...serveChecks,
  port: check.mustBeIntegerFrom(0),
  token: check.mustBeSecret,
  maxBodyBytes: check.mustBePositive,
  maxSessions: check.mustBeIntegerFrom(1),
}
