// Option checks of `shellTools`.
import {
  mustBeAtLeast,
  mustBeBoolean,
  mustBeEither,
  mustBeFunction,
  mustBeIntegerFrom,
  mustBeObject,
  mustBeOneOf,
  mustBePositive,
  mustBeText,
  mustBeTextList,
  type OptionChecks,
} from "../../core/checks/check-options.ts"
import type { ShellOptions } from "../shell.ts"

export const shellChecks: OptionChecks<ShellOptions> = {
  approve: mustBeEither("true, false or a function", mustBeBoolean, mustBeFunction),
  timeoutMs: mustBePositive,
  maxTimeoutMs: mustBePositive,
  onTimeout: mustBeOneOf("background", "kill"),
  maxOutputBytes: mustBeAtLeast(0),
  previewBytes: mustBeAtLeast(0),
  maxRunning: mustBeIntegerFrom(1),
  graceMs: mustBeAtLeast(0),
  shell: mustBeText,
  env: mustBeObject,
  sandbox: mustBeOneOf("none", "os", "auto"),
  network: mustBeOneOf("none", "all"),
  read: mustBeTextList,
}
