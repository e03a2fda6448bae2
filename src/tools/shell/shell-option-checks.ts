// Option checks of `shellTools`.
import * as check from "../../core/checks/check-options.ts"
import type { ShellOptions } from "../shell.ts"

export const shellChecks: check.OptionChecks<ShellOptions> = {
  approve: check.mustBeEither("true, false or a function", check.mustBeBoolean, check.mustBeFunction),
  timeoutMs: check.mustBePositive,
  maxTimeoutMs: check.mustBePositive,
  onTimeout: check.mustBeOneOf("background", "kill"),
  maxOutputBytes: check.mustBeAtLeast(0),
  previewBytes: check.mustBeAtLeast(0),
  maxRunning: check.mustBeIntegerFrom(1),
  graceMs: check.mustBeAtLeast(0),
  shell: check.mustBeText,
  env: check.mustBeObject,
  sandbox: check.mustBeOneOf("none", "os", "auto"),
  network: check.mustBeOneOf("none", "all"),
  read: check.mustBeTextList,
}
