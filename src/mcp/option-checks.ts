import {
  anything,
  isAboveZero,
  isEither,
  isFrom,
  isFunction,
  isImplementation,
  isOneOf,
  isOptions,
  isRecord,
  isRecordOf,
  isSecret,
  isSignal,
  isText,
  isWholeFrom,
  type OptionChecks,
} from "../core/check-options.ts"
import { workspaceMethods } from "../workspace/workspace.ts"
import type { McpClientOptions, ServeMcpOptions, ServeOptions } from "./mcp.ts"

export const clientChecks: OptionChecks<McpClientOptions> = {
  name: isText,
  prefix: isText,
  only: isFunction,
  options: isEither("an object of options or a function that gives one", isRecord, isFunction),
  auth: isEither("{ token } or a provider of the MCP client", isRecord),
  authorized: isFunction,
  timeoutMs: isAboveZero,
  signal: isSignal,
  onChange: isFunction,
  onWarning: isFunction,
}

// `anything`: the value is checked where it is used.
export const serveChecks: OptionChecks<ServeOptions> = {
  name: isText,
  version: isText,
  tools: anything,
  runtime: isRecord,
  instructions: isText,
  approve: isEither('a function or "client"', isFunction, isOneOf("client")),
  approvalTimeoutMs: isAboveZero,
  hooks: anything,
  limits: isOptions({ calls: isFrom(0), callsOf: isRecordOf(isFrom(0)) }),
  workspace: isImplementation(workspaceMethods, "a workspace"),
  onEvent: isFunction,
  host: isFunction,
  answerWithinMs: isAboveZero,
  typeGate: isOneOf("off", "hint", "block"),
  transaction: anything,
  cellTimeoutMs: isAboveZero,
  maxOutputChars: isFrom(0),
}

export const serveMcpChecks: OptionChecks<ServeMcpOptions> = {
  ...serveChecks,
  port: isWholeFrom(0),
  token: isSecret,
  maxBodyBytes: isAboveZero,
  maxSessions: isWholeFrom(1),
}
