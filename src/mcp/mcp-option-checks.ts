// Option checks of the MCP client and server.
import * as check from "../core/checks/check-options.ts"
import { limitChecks } from "../core/checks/limit-checks.ts"
import { type Workspace, workspaceMethods } from "../workspaces/workspace.ts"
import type { McpClientOptions, McpServer, ServeMcpOptions, ServeOptions } from "./mcp-types.ts"

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
  waitForAuthorization: check.mustBeFunction,
  timeoutMs: check.mustBeLimit(1),
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
  approvalTimeoutMs: check.mustBeLimit(1),
  hooks: check.anything,
  limits: check.mustBeOptions({ calls: limitChecks.calls, callsByName: limitChecks.callsByName }),
  workspace: check.mustImplement<Workspace>(workspaceMethods, "a workspace"),
  onEvent: check.mustBeFunction,
  host: check.mustBeFunction,
  answerTimeoutMs: check.mustBeLimit(1),
  typeGate: check.mustBeOneOf("off", "hint", "block"),
  transaction: check.mustBeBooleanOrOptions({ check: check.mustBeFunction }),
  cellTimeoutMs: check.mustBeLimit(1),
  maxOutputChars: check.mustBeLimit(0),
}

export const serveMcpChecks: check.OptionChecks<ServeMcpOptions> = {
  ...serveChecks,
  port: check.mustBeIntegerFrom(0),
  token: check.mustBeSecret,
  maxBodyBytes: check.mustBeLimit(1),
  maxSessions: check.mustBeLimit(1),
}

export function checkMcpServer(use: string, server: McpServer): void {
  if ("url" in server) check.checkOptionNames(use, server, "url", "headers")
  else check.checkOptionNames(use, server, "command", "args", "env", "cwd")
}
