// Option checks of `shellTools`, `shellTool` and `commands`.
import * as check from "../../core/checks/check-options.ts"
import type { ShellOptions, ShellToolOptions } from "../shell.ts"
import type { CommandsOptions } from "./commands.ts"

export const shellToolChecks: check.OptionChecks<ShellToolOptions> = {
  approve: check.mustBeEither("true, false or a function", check.mustBeBoolean, check.mustBeFunction),
  timeoutMs: check.mustBeLimit(1),
  maxTimeoutMs: check.mustBeLimit(1),
  onTimeout: check.mustBeOneOf("background", "kill"),
}

export const commandsChecks: check.OptionChecks<CommandsOptions> = {
  maxOutputBytes: check.mustBeLimit(0),
  maxPreviewBytes: check.mustBeLimit(0),
  maxRunning: check.mustBeLimit(1),
  graceMs: check.mustBeIntegerFrom(0),
  shell: check.mustBeText,
  env: check.mustBeObject,
  sandbox: check.mustBeOneOf("none", "os", "auto"),
  network: check.mustBeOneOf("none", "all"),
  read: check.mustBeTextList,
}

export const shellChecks: check.OptionChecks<ShellOptions> = { ...shellToolChecks, ...commandsChecks }
