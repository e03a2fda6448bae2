// Option checks of the MCP client and server.
import {
  anything,
  mustBeAtLeast,
  mustBeEither,
  mustBeFunction,
  mustBeIntegerFrom,
  mustBeObject,
  mustBeOneOf,
  mustBeOptions,
  mustBePositive,
  mustBeRecordOf,
  mustBeSecret,
  mustBeSignal,
  mustBeText,
  mustImplement,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import { workspaceMethods } from "../workspaces/workspace.ts"
import type { McpClientOptions, ServeMcpOptions, ServeOptions } from "./mcp-types.ts"

export const clientChecks: OptionChecks<McpClientOptions> = {
  name: mustBeText,
  prefix: mustBeText,
  only: mustBeFunction,
  options: mustBeEither("an object of options or a function that gives one", mustBeObject, mustBeFunction),
  auth: mustBeEither("{ token } or a provider of the MCP client", mustBeObject),
  authorized: mustBeFunction,
  timeoutMs: mustBePositive,
  signal: mustBeSignal,
  onChange: mustBeFunction,
  onWarning: mustBeFunction,
}

// `anything`: checked where the value is used.
export const serveChecks: OptionChecks<ServeOptions> = {
  name: mustBeText,
  version: mustBeText,
  tools: anything,
  runtime: mustBeObject,
  instructions: mustBeText,
  approver: mustBeEither('a function or "client"', mustBeFunction, mustBeOneOf("client")),
  approvalTimeoutMs: mustBePositive,
  hooks: anything,
  limits: mustBeOptions({ calls: mustBeAtLeast(0), callsOf: mustBeRecordOf(mustBeAtLeast(0)) }),
  workspace: mustImplement(workspaceMethods, "a workspace"),
  onEvent: mustBeFunction,
  host: mustBeFunction,
  answerWithinMs: mustBePositive,
  typeGate: mustBeOneOf("off", "hint", "block"),
  transaction: anything,
  cellTimeoutMs: mustBePositive,
  maxOutputChars: mustBeAtLeast(0),
}

export const serveMcpChecks: OptionChecks<ServeMcpOptions> = {
  ...serveChecks,
  port: mustBeIntegerFrom(0),
  token: mustBeSecret,
  maxBodyBytes: mustBePositive,
  maxSessions: mustBeIntegerFrom(1),
}
